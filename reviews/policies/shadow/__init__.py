"""Watch first, then enforce: a draft that runs beside the version in force for a time."""
