"""What a piece of code is, as far as its colour is concerned."""

from __future__ import annotations

from enum import Enum, auto


class Role(Enum):
    """The role of a piece of code. Beside each stands the TextMate scope that themes colour it by."""

    TEXT = auto()
    """Nothing special: names that a grammar leaves alone."""
    COMMENT = auto()
    """`comment`"""
    DOCSTRING = auto()
    """`string.quoted.docstring`"""
    KEYWORD = auto()
    """`keyword.control`"""
    DECLARATION = auto()
    """`storage.type`: words that begin a declaration, such as `const`, `class`, `def`"""
    MODIFIER = auto()
    """`storage.modifier`"""
    OPERATOR = auto()
    """`keyword.operator`"""
    LOGICAL = auto()
    """`keyword.operator.logical` and the comparisons"""
    WORD_OPERATOR = auto()
    """`keyword.operator.new` and other operators that are words"""
    PUNCTUATION = auto()
    """`punctuation`"""
    ACCESSOR = auto()
    """`punctuation.accessor`: the point before a member"""
    STRING = auto()
    """`string`"""
    QUOTE = auto()
    """`punctuation.definition.string`"""
    ESCAPE = auto()
    """`constant.character.escape`"""
    PLACEHOLDER = auto()
    """`constant.other.placeholder`, and the braces of an interpolation"""
    REGEX = auto()
    """`string.regexp`"""
    NUMBER = auto()
    """`constant.numeric`"""
    UNIT = auto()
    """`keyword.other.unit`"""
    LITERAL = auto()
    """`constant.language`: true, null and the like"""
    CONSTANT = auto()
    """`variable.other.constant`"""
    FUNCTION = auto()
    """`entity.name.function`"""
    CALL = auto()
    """`meta.function-call.generic`: a call whose name most themes leave alone"""
    BUILTIN = auto()
    """`support.function`"""
    MACRO = auto()
    """`entity.name.function.macro`"""
    TYPE = auto()
    """`entity.name.type`"""
    CLASS = auto()
    """`entity.name.type.class` at its declaration"""
    BASE = auto()
    """`entity.other.inherited-class`"""
    BUILTIN_TYPE = auto()
    """`support.type`"""
    NAMESPACE = auto()
    """`entity.name.namespace`"""
    PARAMETER = auto()
    """`variable.parameter`"""
    ARGUMENT = auto()
    """`variable.parameter.function-call`: the name of an argument"""
    VARIABLE = auto()
    """`variable.other.readwrite`"""
    ASSIGNED = auto()
    """`variable.other.assignment`"""
    OBJECT = auto()
    """`variable.other.object`: a name whose member follows"""
    PROPERTY = auto()
    """`variable.other.property`"""
    KEY = auto()
    """`meta.object-literal.key`, `support.type.property-name`"""
    SELF = auto()
    """`variable.language`"""
    TAG = auto()
    """`entity.name.tag`"""
    TAG_BRACKET = auto()
    """`punctuation.definition.tag`"""
    ATTRIBUTE = auto()
    """`entity.other.attribute-name`"""
    DECORATOR = auto()
    """`entity.name.function.decorator`"""
    LIFETIME = auto()
    """`entity.name.type.lifetime`"""
    VALUE = auto()
    """`support.constant.property-value`"""
    COLOR = auto()
    """`constant.other.color`"""
