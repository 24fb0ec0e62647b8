"""What measured runs tell of the plant's constants. Nothing here looks at a run of the job that it is tested on."""

from experiments.validation.calibration.all import calibrate
from experiments.validation.calibration.estimate import Estimate

__all__ = ["Estimate", "calibrate"]
