"""Common nouns that say nothing of the text they stand in: no node is worth having for them."""

from __future__ import annotations

GENERIC = frozenset(
    # what anything can be called
    "way ways thing things lot lots kind kinds sort sorts part parts number numbers example examples case cases fact "
    "facts bit reason reasons something anything nothing everything someone somebody anyone anybody everyone everybody "
    "nobody people person one ones rest half variety series set sets item items piece pieces pair pairs couple dozen "
    "group groups name names type types value values form forms level levels matter matters subject topic issue issues "
    "question questions problem problems answer answers others course instance effect effects terms sense majority "
    "amount amounts amounting member members aspect aspects feature features factor "
    "factors detail details version versions copy copies manner fashion means approach approaches "
    "result results use uses usage purpose purposes goal goals aim aims idea ideas concept concepts notion point "
    "points side sides hand hands place places area areas position positions spot situation situations condition "
    "conditions status circumstance circumstances basis base foundation role roles term nature "
    "quality qualities character degree extent range scale size sizes length lengths height heights width depth "
    "depths weight weights speed distance distances shape shapes colour colours color colors "
    # doing and happening
    "addition advance advantage advantages attempt attempts attention beginning behaviour behavior benefit benefits "
    "care chance chances change changes choice choices comparison concern concerns confirmation connection consequence "
    "consequences control cost costs deal decade difference differences difficulty difficulties discussion doubt "
    "effort efforts end ends ending evidence exception exceptions experience explanation "
    "exchange failure failures focus guess help hope impact importance influence interest interests "
    "job jobs kindness knowledge lack lead limit limits load look loss luck meaning mention mistake mistakes move need "
    "needs note notes opinion opinions option options order orders pause permission possibility practice "
    "preference presence progress promise proof reading refusal relation relationship "
    "requirement requirements responsibility restart return review risk risks "
    "selection solution solutions start step steps story success support surprise talk thought "
    "trouble try turn view views visit walk warning work works worry "
    # time
    "time times moment moments second seconds minute minutes hour hours day days night nights morning mornings "
    "afternoon evening evenings midnight week weeks weekend month months quarter year years century centuries age "
    "ages today tomorrow yesterday tonight while period periods season seasons date dates past present future spring "
    "summer autumn fall winter interval deadline delay "
    # measures
    "percent percentage per cent share shares metre metres meter meters kilometre kilometres mile miles foot feet inch "
    "inches degree degrees knot knots kilo kilos kilogram kilograms gram grams ton tons tonne tonnes litre litres "
    "decimal decimals digit digits total totals sum average mean maximum minimum rate rates ratio count counts "
    "figure figures dollar dollars euro euros cent cents price prices money "
    # where on a page or in a text
    "line lines list lists section sections chapter chapters page pages paragraph sentence word words letter letters "
    "text texts title titles heading cell cells entry entries link links label "
    "labels header footer box top bottom middle left right front back centre center edge corner "
    # anybody
    "man men woman women boy boys girl girls child children guy guys friend friends body head eye eyes foot face voice "
    "mind life lives death world home house room rooms door wall floor street "
    "thanks hello please yes no etc".split()
)
"""Written for this purpose: nouns that stand in texts of every sort and name nothing by themselves."""

VAGUE = frozenset(
    "way ways thing things lot lots kind kinds sort sorts bit one ones while reason reasons time times moment moments "
    "second seconds minute minutes hour hours day days night nights morning evening week weeks month months year years "
    "decade decades rest half person people man men woman women somebody someone something place places end start "
    "beginning hand hands chance look example examples case cases part parts amount majority".split()
)
"""Heads that an adjective alone does not make a term: "long while", "dead one", "last few years"."""
