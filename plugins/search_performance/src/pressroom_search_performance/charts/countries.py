"""Names of countries by their codes of three letters (ISO 3166-1 alpha-3), which sources of figures give."""

from __future__ import annotations

from typing import Final

_CODES: Final = """
abw Aruba|afg Afghanistan|ago Angola|aia Anguilla|ala Åland Islands|alb Albania|and Andorra|are United Arab Emirates|
arg Argentina|arm Armenia|asm American Samoa|ata Antarctica|atg Antigua and Barbuda|aus Australia|aut Austria|
aze Azerbaijan|bdi Burundi|bel Belgium|ben Benin|bes Bonaire, Sint Eustatius and Saba|bfa Burkina Faso|bgd Bangladesh|
bgr Bulgaria|bhr Bahrain|bhs Bahamas|bih Bosnia and Herzegovina|blm Saint Barthélemy|blr Belarus|blz Belize|
bmu Bermuda|bol Bolivia|bra Brazil|brb Barbados|brn Brunei|btn Bhutan|bwa Botswana|caf Central African Republic|
can Canada|cck Cocos Islands|che Switzerland|chl Chile|chn China|civ Côte d'Ivoire|cmr Cameroon|
cod Congo (Democratic Republic)|cog Congo|cok Cook Islands|col Colombia|com Comoros|cpv Cabo Verde|cri Costa Rica|
cub Cuba|cuw Curaçao|cxr Christmas Island|cym Cayman Islands|cyp Cyprus|cze Czechia|deu Germany|dji Djibouti|
dma Dominica|dnk Denmark|dom Dominican Republic|dza Algeria|ecu Ecuador|egy Egypt|eri Eritrea|esh Western Sahara|
esp Spain|est Estonia|eth Ethiopia|fin Finland|fji Fiji|flk Falkland Islands|fra France|fro Faroe Islands|
fsm Micronesia|gab Gabon|gbr United Kingdom|geo Georgia|ggy Guernsey|gha Ghana|gib Gibraltar|gin Guinea|
glp Guadeloupe|gmb Gambia|gnb Guinea-Bissau|gnq Equatorial Guinea|grc Greece|grd Grenada|grl Greenland|gtm Guatemala|
guf French Guiana|gum Guam|guy Guyana|hkg Hong Kong|hnd Honduras|hrv Croatia|hti Haiti|hun Hungary|idn Indonesia|
imn Isle of Man|ind India|iot British Indian Ocean Territory|irl Ireland|irn Iran|irq Iraq|isl Iceland|isr Israel|
ita Italy|jam Jamaica|jey Jersey|jor Jordan|jpn Japan|kaz Kazakhstan|ken Kenya|kgz Kyrgyzstan|khm Cambodia|
kir Kiribati|kna Saint Kitts and Nevis|kor South Korea|kwt Kuwait|lao Laos|lbn Lebanon|lbr Liberia|lby Libya|
lca Saint Lucia|lie Liechtenstein|lka Sri Lanka|lso Lesotho|ltu Lithuania|lux Luxembourg|lva Latvia|mac Macao|
maf Saint Martin|mar Morocco|mco Monaco|mda Moldova|mdg Madagascar|mdv Maldives|mex Mexico|mhl Marshall Islands|
mkd North Macedonia|mli Mali|mlt Malta|mmr Myanmar|mne Montenegro|mng Mongolia|mnp Northern Mariana Islands|
moz Mozambique|mrt Mauritania|msr Montserrat|mtq Martinique|mus Mauritius|mwi Malawi|mys Malaysia|myt Mayotte|
nam Namibia|ncl New Caledonia|ner Niger|nfk Norfolk Island|nga Nigeria|nic Nicaragua|niu Niue|nld Netherlands|
nor Norway|npl Nepal|nru Nauru|nzl New Zealand|omn Oman|pak Pakistan|pan Panama|per Peru|phl Philippines|plw Palau|
png Papua New Guinea|pol Poland|pri Puerto Rico|prk North Korea|prt Portugal|pry Paraguay|pse Palestine|
pyf French Polynesia|qat Qatar|reu Réunion|rou Romania|rus Russia|rwa Rwanda|sau Saudi Arabia|sdn Sudan|sen Senegal|
sgp Singapore|shn Saint Helena|sjm Svalbard and Jan Mayen|slb Solomon Islands|sle Sierra Leone|slv El Salvador|
smr San Marino|som Somalia|spm Saint Pierre and Miquelon|srb Serbia|ssd South Sudan|stp São Tomé and Príncipe|
sur Suriname|svk Slovakia|svn Slovenia|swe Sweden|swz Eswatini|sxm Sint Maarten|syc Seychelles|syr Syria|
tca Turks and Caicos Islands|tcd Chad|tgo Togo|tha Thailand|tjk Tajikistan|tkl Tokelau|tkm Turkmenistan|
tls Timor-Leste|ton Tonga|tto Trinidad and Tobago|tun Tunisia|tur Türkiye|tuv Tuvalu|twn Taiwan|tza Tanzania|
uga Uganda|ukr Ukraine|ury Uruguay|usa United States|uzb Uzbekistan|vat Holy See|vct Saint Vincent and the Grenadines|
ven Venezuela|vgb Virgin Islands (British)|vir Virgin Islands (US)|vnm Vietnam|vut Vanuatu|wlf Wallis and Futuna|
wsm Samoa|xkk Kosovo|yem Yemen|zaf South Africa|zmb Zambia|zwe Zimbabwe
"""

_NAMES: Final = dict(one.strip().split(" ", 1) for one in _CODES.split("|"))


def country_name(code: str) -> str:
    """Return the name of a country; `Unknown` for the code that stands for none, else the code in capitals."""
    return "Unknown" if code in ("", "zzz") else _NAMES.get(code, code.upper())
