"""The commands of `trueup`, one file each."""
