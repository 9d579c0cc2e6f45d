"""The functions that expressions may call, with what they take and return.

A line of the table reads `names : parameters -> result`; a `!` at its end says that a call can
raise in ANSI mode. Parameters are words, with `?` for optional, `*` for any number, `+` for one or
more of them:

  string   text, or what Spark turns into text   bytes    text or binary
  number   any number                            long     any whole number
  integer  a whole number of at most 32 bits     boolean  a condition
  date     a date, a time or a literal of one    time     the same
  array map struct any                           T        values of one common type
  E        like the first argument's elements    K        like the first argument's keys
  pattern  a literal regular expression          like     a literal LIKE pattern
  text     a literal text                        flag     a literal true or false
  place    a literal whole number                size     a bounded length
  words    text and nothing else                 day      a date only
  moment   a timestamp only                      sign     a literal of one character

Results are types, or words: `first` (the type of the first argument), `common` (that of the T),
`element`, `value`, `keys`, `values` and `entries` of the first argument, `array` and `map` of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

TABLE = """
lower upper lcase ucase initcap quote make_valid_utf8 try_validate_utf8 : string -> string
soundex : words -> string
validate_utf8 : string -> string !
trim ltrim rtrim btrim : string, string? -> string
ascii : string -> int
base64 : bytes -> string
unbase64 : string -> binary !
length len char_length character_length bit_length octet_length : bytes -> int
char chr : long -> string
concat_ws : string, any* -> string
contains startswith endswith : bytes, bytes -> boolean
decode : bytes, text -> string !
encode : string, text -> binary !
elt : integer, string+ -> string !
find_in_set instr : string, string -> int
format_number : number, any -> string !
format_string printf : text, any* -> string !
left right : string, integer -> string
levenshtein : string, string, integer? -> int
locate position : string, string, integer? -> int
lpad rpad : string, size, string? -> string
luhn_check is_valid_utf8 : string -> boolean
mask : words, sign?, sign?, sign?, sign? -> string
overlay : string, string, integer, integer? -> string
regexp_count : string, pattern -> int !
regexp_extract : string, pattern, integer? -> string !
regexp_extract_all : string, pattern, integer? -> array<string> !
regexp_instr : string, pattern, integer? -> int !
regexp_like rlike regexp : string, pattern -> boolean !
regexp_replace : string, pattern, string, place? -> string !
regexp_substr : string, pattern -> string !
like ilike : string, like, sign? -> boolean
repeat : string, size -> string
space : size -> string
replace : string, string, string? -> string
sentences : string, string?, string? -> array<array<string>>
split : string, pattern, integer? -> array<string>
split_part : string, string, integer -> string !
substr substring : bytes, integer, integer? -> first
substring_index : string, string, integer -> string
to_binary : string, text? -> binary !
try_to_binary : string, text? -> binary
to_char to_varchar : any, text -> string !
translate : string, string, string -> string
str_to_map : string, pattern?, pattern? -> map<string,string> !
aes_decrypt : bytes, bytes, text?, text?, bytes? -> binary !
try_aes_decrypt : bytes, bytes, text?, text?, bytes? -> binary
parse_url : string, text, pattern? -> string !
try_parse_url : string, text, pattern? -> string
url_encode try_url_decode : string -> string
url_decode : string -> string !

coalesce : T+ -> common
ifnull nvl : T, T -> common
nvl2 : any, T, T -> common
if : boolean, T, T -> common
nullif : T, T -> first
nanvl : number, number -> double
nullifzero : number -> first
equal_null : T, T -> boolean
isnan : number -> boolean
isnull isnotnull : any -> boolean
greatest least : T, T+ -> common
typeof : any -> string
raise_error : string -> null !

acos acosh asin asinh atan atanh cos cosh cot csc sec sin sinh tan tanh : number -> double
cbrt degrees exp expm1 ln log10 log1p log2 radians rint sign signum sqrt : number -> double
atan2 hypot pow power : number, number -> double
log : number, number? -> double
e pi : -> double
bin : long -> string
conv : string, integer, integer -> string !
factorial : integer -> bigint
hex : any -> string
unhex : string -> binary !
positive : number -> first
width_bucket : number, number, number, long -> bigint
bit_count : any -> int
bit_get getbit : long, integer -> tinyint !
shiftleft shiftright shiftrightunsigned : long, integer -> first

add_months : date, integer -> date !
date_add date_sub : date, integer -> date !
date_diff datediff : date, date -> int
date_format : time, text -> string !
date_from_unix_date : integer -> date
date_trunc : text, time -> timestamp
day dayofmonth dayofweek dayofyear month quarter weekday weekofyear year : date -> int
dayname monthname : date -> string
hour minute second : time -> int
from_unixtime : long, text? -> string !
from_utc_timestamp to_utc_timestamp : time, string -> timestamp !
last_day : date -> date
make_date : integer, integer, integer -> date !
make_timestamp : integer, integer, integer, integer, integer, number, string? -> timestamp !
make_timestamp_ltz : integer, integer, integer, integer, integer, number, string? -> timestamp !
try_make_timestamp : integer, integer, integer, integer, integer, number -> timestamp
try_make_timestamp_ltz : integer, integer, integer, integer, integer, number -> timestamp
make_timestamp_ntz : integer, integer, integer, integer, integer, number -> timestamp_ntz !
try_make_timestamp_ntz : integer, integer, integer, integer, integer, number -> timestamp_ntz
make_dt_interval : integer?, integer?, integer?, number? -> interval !
make_ym_interval : integer?, integer? -> interval !
months_between : time, time, boolean? -> double
next_day : date, string -> date !
timestamp_micros : long -> timestamp
timestamp_millis : long -> timestamp !
timestamp_seconds : number -> timestamp !
to_date : any, text? -> date !
try_to_date : any, text? -> date
to_timestamp to_timestamp_ltz : any, text? -> timestamp !
try_to_timestamp : any, text? -> timestamp
to_timestamp_ntz : any, text? -> timestamp_ntz !
to_unix_timestamp unix_timestamp : any, text? -> bigint !
trunc : date, text -> date
unix_date : day -> int
unix_micros unix_millis unix_seconds : moment -> bigint

crc32 : bytes -> bigint
hash : any+ -> int
xxhash64 : any+ -> bigint
md5 sha sha1 : bytes -> string
sha2 : bytes, integer -> string

get_json_object : string, text -> string
json_array_length : words -> int
json_object_keys : words -> array<string>
to_json to_csv : any -> string !
schema_of_json schema_of_csv : text -> string

array_append array_prepend : array, E -> first
array_compact array_distinct : array -> first
array_contains : array, E -> boolean
array_except array_intersect array_union : array, array -> first
array_insert : array, size, E -> first !
array_join : array, string, string? -> string
array_max array_min : array -> element
array_position : array, E -> bigint
array_remove : array, E -> first
array_repeat : any, size -> array
array_size size cardinality : any -> int
arrays_overlap : array, array -> boolean
flatten : array -> element
get : array, integer -> element
element_at : any, any -> value !
try_element_at : any, any -> value
slice : array, integer, integer -> first !
sort_array : array, flag? -> first
map_concat : map+ -> first !
map_contains_key : map, K -> boolean
map_entries : map -> entries
map_from_arrays : array, array -> map !
map_from_entries : array -> map !
map_keys : map -> keys
map_values : map -> values
vector_cosine_similarity vector_inner_product vector_l2_distance : array, array -> float !
"""


@dataclass(frozen=True)
class Parameter:
    """What one place of a call takes."""

    word: str
    optional: bool = False
    repeated: bool = False


@dataclass(frozen=True)
class Signature:
    """What a function takes and returns, and whether it can raise."""

    name: str
    parameters: tuple[Parameter, ...]
    result: str
    raises: bool

    @property
    def least(self) -> int:
        """The fewest arguments it takes."""
        return sum(not parameter.optional for parameter in self.parameters)

    @property
    def most(self) -> int | None:
        """The most arguments it takes; None means any number."""
        if any(parameter.repeated for parameter in self.parameters):
            return None
        return len(self.parameters)

    def parameter(self, place: int) -> Parameter:
        """What the argument at a place must be."""
        return self.parameters[min(place, len(self.parameters) - 1)]


def _read(table: str) -> dict[str, Signature]:
    found: dict[str, Signature] = {}
    for line in filter(None, table.splitlines()):
        names, _, rest = line.partition(":")
        taken, _, result = rest.partition("->")
        parameters = tuple(_parameter(word.strip()) for word in taken.split(",") if word.strip())
        for name in names.split():
            found[name] = Signature(
                name, parameters, result.replace("!", "").strip(), raises="!" in result
            )
    return found


def _parameter(word: str) -> Parameter:
    return Parameter(word.rstrip("?*+"), word[-1] in "?*", word[-1] in "*+")


SIGNATURES: Mapping[str, Signature] = _read(TABLE)
