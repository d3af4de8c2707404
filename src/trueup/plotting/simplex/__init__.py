"""Reliability diagrams on the triangle and the tetrahedron."""
