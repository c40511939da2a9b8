"""Words that stand in nearly every text of a language, and so tell nothing of it: articles, pronouns, auxiliaries."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

COMMON: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        language: frozenset(words.split())
        for language, words in {
            "en": (
                "a about after all also an and any are as at be because been before being but by can could did do does "
                "for from had has have he her here him his how i if in into is it its just me more most my no not of "
                "on one only or other our out over she so some such than that the their them then there these they "
                "this those through to too under up us very was we were what when where which while who why will with "
                "would you your"
            ),
            "de": (
                "aber alle als also am an auch auf aus bei bin bis da dann das dass dein dem den der des die dies "
                "diese dieser dieses doch du durch ein eine einem einen einer eines er es euch für hat habe haben hier "
                "ich ihr ihre im in ist ja kann kein keine man mehr mein mit nach nicht noch nur ob oder ohne sehr "
                "sein seine sich sie sind so über um und uns unser unter vom von vor war was wenn werden wie wir wird "
                "zu zum zur"
            ),
            "es": (
                "a al algo como con cuando de del desde donde dos el ella ellos en entre era es esa ese eso esta este "
                "esto están está ha hace hasta hay la las le les lo los más me mi muy nada ni no nos o para pero por "
                "porque que qué quien se ser si sin sobre son su sus también te tiene todo todos un una uno y ya yo"
            ),
            "fr": (
                "à au aussi aux avec c ce ces cette comme d dans de des du elle elles en est et être eu fait il ils "
                "j je l la le les leur leurs lui ma mais me même mes moi mon n ne nos notre nous on ont ou où par pas "
                "plus pour qu que qui s sa sans se ses si son sont sur ta te tu un une vos votre vous y"
            ),
            "it": (
                "a ad ai al alla alle anche c che chi ci come con da dal dalla dei del della delle di e ed è gli ha "
                "hanno ho i il in io la le lei li lo loro lui ma mi nel nella noi non o per perché più quando quella "
                "quello questa questo se sei si sono su sua sue sul sulla suo tra tu un una uno vi voi"
            ),
            "nl": (
                "aan al als bij dan dat de den der deze die dit door een en er had heb heeft het hij hoe hun ik in is "
                "je kan maar me meer men met mijn naar niet nog nu of om omdat ons ook op over te toch tot u uit van "
                "veel voor want was wat we wel werd wie wij wordt zal ze zich zij zijn zo zonder zou"
            ),
            "pt": (
                "a ao aos as às até com como da das de dela dele do dos e é ela ele eles em entre era essa esse esta "
                "este eu foi há isso isto já lhe mais mas me mesmo meu minha muito na não nas nem no nos nós o os ou "
                "para pela pelo por qual quando que quem se sem ser seu sua são só também te tem um uma você"
            ),
        }.items()
    }
)
