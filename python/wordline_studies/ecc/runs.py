"""Recordings under the normal scheme, differentiated ECC and AGCR, on the device of the chapter."""

from wordline.config import Value
from wordline_studies.figure import Numbers
from wordline_studies.regulation.runs import REGULATION, Device

PUBLISHED = Numbers("wordline_studies.ecc")
DEVICE = Device("xia2017-ecc", page=8192, user_pages=8 * 4 * 512 * 128 * 0.85)
NORMAL, OURS, AGCR = "normal", "differentiated", "AGCR"
ALL = (NORMAL, OURS, AGCR)
COLOURS = dict(zip(ALL, ("#8b929c", "#1f78b4", "#e0a30a"), strict=True))
DIFFERENTIATED = f"{REGULATION}.differentiated-ecc"
# AGCR reads its medium-cost writes with LDPC (table 7).
OF_AGCR: dict[str, Value] = {"nand.programming.table.medium.read_us": 110.0}
SCHEMES: dict[str, dict[str, Value]] = {
    NORMAL: {REGULATION: "fixed"},
    OURS: {REGULATION: "differentiated-ecc"},
    AGCR: {REGULATION: "r-w", **OF_AGCR},
}
