"""QR codes (ISO/IEC 18004) as PNG or SVG."""
