"""Recalibrators in files: JSON, safetensors and ONNX."""
