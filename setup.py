"""The compiled kernels; everything else about the package is in pyproject.toml."""

from __future__ import annotations

import os
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

KERNELS = Path("src/trueup/engines/kernels")

# No fused multiply-add: the kernels must give the bits of the NumPy reference on every CPU.
UNIX_FLAGS = ["-O3", "-ffp-contract=off", "-fno-math-errno"]

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
}


class BuildKernels(build_ext):
    """Adds the flags of gcc and clang, once the compiler is known."""

    def build_extensions(self) -> None:
        if self.compiler.compiler_type != "msvc":
            for extension in self.extensions:
                extension.extra_compile_args += UNIX_FLAGS
        super().build_extensions()


def kernels() -> list[Extension]:
    """One extension per .pyx file; none without Cython or with TRUEUP_NO_NATIVE=1."""
    if os.environ.get("TRUEUP_NO_NATIVE") == "1":
        return []
    try:
        from Cython.Build import cythonize
    except ImportError:
        return []
    headers = [str(path) for path in sorted(KERNELS.glob("*.h"))]
    sources = [
        Extension(f"trueup.engines.kernels.{path.stem}", [str(path)], depends=headers)
        for path in sorted(KERNELS.glob("*.pyx"))
    ]
    extensions: list[Extension] = cythonize(sources, compiler_directives=DIRECTIVES)
    for extension in extensions:
        # Set here because cythonize() drops it: without a compiler, NumPy does the work.
        extension.optional = True
    return extensions


setup(ext_modules=kernels(), cmdclass={"build_ext": BuildKernels})
