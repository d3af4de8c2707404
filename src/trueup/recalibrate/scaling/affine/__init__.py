"""The fit of softmax(Wz + b), which matrix scaling and Dirichlet calibration share."""
