"""The schemes on the document's device."""

from wordline.config import Value
from wordline_studies.figure import Numbers
from wordline_studies.regulation.runs import REGULATION, Device

PUBLISHED = Numbers("wordline_studies.agcr")
DEVICE = Device("agcr", page=4096, user_pages=8 * 4 * 4 * 512 * 64 * 0.85)
TRADITIONAL, LI, RW, RL, RWL = "Traditional", "Li et al.", "R+W", "R+L", "R+W+L"
PROPOSED = (RW, RL, RWL)
ALL = (TRADITIONAL, LI, *PROPOSED)
NAMES = {TRADITIONAL: "fixed", LI: "li", RW: "r-w", RL: "r-l", RWL: "r-w-l"}
COLOURS = dict(zip(ALL, ("#8b929c", "#e0a30a", "#1f78b4", "#12a07a", "#c2457f"), strict=True))
SCHEMES: dict[str, dict[str, Value]] = {name: {REGULATION: own} for name, own in NAMES.items()}
EXTREMES: dict[str, dict[str, Value]] = {
    "HCW/LCR": {f"{REGULATION}.fixed.mode": "high"},
    "LCW/HCR": {f"{REGULATION}.fixed.mode": "low"},
    "reduced wear": {f"{REGULATION}.fixed.mode": "reduced"},
}
