"""The functions that expressions may call, with what they take and return.

A line of the table reads `names : parameters -> result`. Parameters are words, with `?` for optional,
`*` for any number, `+` for one or more of them:

  string   text, or what Spark turns into text   bytes    text or binary
  words    text and nothing else                 boolean  a condition
  number   any number                            long     any whole number
  integer  a whole number of at most 32 bits     count    one of exactly 32 bits
  bits     a whole number or a condition         places   a count, or a format
  date     a date, a time or a literal of one    time     the same
  day      a date only                           moment   a timestamp only
  dated    text, a date or a time                any      anything
  array map struct                               nested   any of these three
  many     an array or a map                     lists    an array of arrays
  texts    an array of what is no array          floats   an array of floats
  joined   a string or such an array             hashed   anything that holds no map
  T        values of one common type             O        the same, with an order
  E        like the first argument's elements    A        an array like the first one
  K        like the first argument's keys        M        a map like the first one
  pattern  a literal regular expression          like     a literal LIKE pattern
  text     a literal text                        flag     a literal true or false
  place    a literal whole number                size     a length, limited where it is literal
  sign     a literal of one character            key      a literal name of letters and digits
  form     a literal format of dates

Results are types, or words: `first` (the type of the first argument), `common` (that of the T),
`element`, `value`, `keys`, `values` and `entries` of the first argument, `array` of it,
`both` (what two arrays have in common), `bytes` (binary where the first argument is, else text),
`pad` (binary where all texts are), `whole` (bigint where the first argument is, else int).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

TABLE = """
lower upper lcase ucase initcap quote make_valid_utf8 try_validate_utf8 : string -> string
soundex : words -> string
validate_utf8 : string -> string
trim ltrim rtrim btrim : string, string? -> string
ascii : string -> int
base64 : bytes -> string
unbase64 : string -> binary
length len char_length character_length bit_length octet_length : string -> int
char chr : long -> string
concat_ws : string, joined* -> string
contains startswith endswith : string, string -> boolean
decode : bytes, text -> string
encode : string, text -> binary
elt : integer, words+ -> string
find_in_set instr : string, string -> int
format_number : number, places -> string
format_string printf : text, any* -> string
left : string, integer -> bytes
right : string, integer -> string
levenshtein : string, string, integer? -> int
locate position : string, string, integer? -> int
lpad rpad : string, size, string? -> pad
luhn_check is_valid_utf8 : string -> boolean
mask : words, sign?, sign?, sign?, sign? -> string
overlay : string, string, integer, integer? -> string
regexp_count : string, pattern -> int
regexp_extract : string, pattern, integer? -> string
regexp_extract_all : string, pattern, integer? -> array<string>
regexp_instr : string, pattern, integer? -> int
regexp_like rlike regexp : string, pattern -> boolean
regexp_replace : string, pattern, string, place? -> string
regexp_substr : string, pattern -> string
like ilike : string, like, sign? -> boolean
repeat : string, size -> string
space : size -> string
replace : string, string, string? -> string
sentences : string, string?, string? -> array<array<string>>
split : string, pattern, integer? -> array<string>
split_part : string, string, integer -> string
substr substring : string, integer, integer? -> bytes
substring_index : string, string, integer -> string
translate : string, string, string -> string
str_to_map : words, pattern?, pattern? -> map<string,string>
aes_decrypt : bytes, bytes, text?, text?, bytes? -> binary
try_aes_decrypt : bytes, bytes, text?, text?, bytes? -> binary
parse_url : words, text, key? -> string
try_parse_url : words, text, key? -> string
url_encode try_url_decode : string -> string
url_decode : string -> string

coalesce : T+ -> common
ifnull nvl : T, T -> common
nvl2 : any, T, T -> common
if : boolean, T, T -> common
nullif : O, O -> first
nanvl : number, number -> double
nullifzero : number -> first
equal_null : O, O -> boolean
isnan : number -> boolean
isnull isnotnull : any -> boolean
greatest least : O, O+ -> common
typeof : any -> string
raise_error : string -> null

acos acosh asin asinh atan atanh cos cosh cot csc sec sin sinh tan tanh : number -> double
cbrt degrees exp expm1 ln log10 log1p log2 radians rint sign signum sqrt : number -> double
atan2 hypot pow power : number, number -> double
log : number, number? -> double
e pi : -> double
bin : long -> string
conv : string, integer, integer -> string
factorial : integer -> bigint
hex : string -> string
unhex : string -> binary
positive : number -> first
width_bucket : number, number, number, long -> bigint
bit_count : bits -> int
bit_get getbit : long, integer -> tinyint
shiftleft shiftright shiftrightunsigned : long, integer -> whole

add_months : date, integer -> date
date_add date_sub : date, integer -> date
date_diff datediff : date, date -> int
date_format : time, form -> string
date_from_unix_date : integer -> date
date_trunc : text, time -> timestamp
day dayofmonth dayofweek dayofyear month quarter weekday weekofyear year : date -> int
dayname monthname : date -> string
hour minute second : time -> int
from_unixtime : long, form? -> string
from_utc_timestamp to_utc_timestamp : time, string -> timestamp
last_day : date -> date
make_date : integer, integer, integer -> date
make_timestamp : integer, integer, integer, integer, integer, number, string? -> timestamp
make_timestamp_ltz : integer, integer, integer, integer, integer, number, string? -> timestamp
try_make_timestamp : integer, integer, integer, integer, integer, number -> timestamp
try_make_timestamp_ltz : integer, integer, integer, integer, integer, number -> timestamp
make_timestamp_ntz : integer, integer, integer, integer, integer, number -> timestamp_ntz
try_make_timestamp_ntz : integer, integer, integer, integer, integer, number -> timestamp_ntz
make_dt_interval : integer?, integer?, integer?, number? -> interval
make_ym_interval : integer?, integer? -> interval month
months_between : time, time, boolean? -> double
next_day : date, string -> date
timestamp_micros : long -> timestamp
timestamp_millis : long -> timestamp
timestamp_seconds : number -> timestamp
to_date : string, form? -> date
try_to_date : string, form? -> date
to_timestamp to_timestamp_ltz : string, form? -> timestamp
try_to_timestamp : string, form? -> timestamp
to_timestamp_ntz : string, form? -> timestamp_ntz
to_unix_timestamp unix_timestamp : dated, form? -> bigint
trunc : date, text -> date
unix_date : day -> int
unix_micros unix_millis unix_seconds : moment -> bigint

crc32 : bytes -> bigint
hash : hashed+ -> int
xxhash64 : hashed+ -> bigint
md5 sha sha1 : bytes -> string
sha2 : bytes, integer -> string

get_json_object : words, text -> string
json_array_length : words -> int
json_object_keys : words -> array<string>
to_json : nested -> string
to_csv : struct -> string
schema_of_json schema_of_csv : text -> string

array_append array_prepend : array, E -> first
array_compact array_distinct : array -> first
array_contains : array, E -> boolean
array_except array_intersect array_union : array, A -> both
array_insert : array, size, E -> first
array_join : texts, words, words? -> string
array_max array_min : array -> element
array_position : array, E -> bigint
array_remove : array, E -> first
array_repeat : any, count -> array
array_size : array -> int
size cardinality : many -> int
arrays_overlap : array, A -> boolean
flatten : lists -> element
get : array, integer -> element
slice : array, integer, integer -> first
sort_array : array, flag? -> first
map_concat : map, M* -> first
map_contains_key : map, K -> boolean
map_entries : map -> entries
map_keys : map -> keys
map_values : map -> values
vector_cosine_similarity vector_inner_product vector_l2_distance : floats, floats -> float
"""


@dataclass(frozen=True)
class Parameter:
    """What one place of a call takes."""

    word: str
    optional: bool = False
    repeated: bool = False


@dataclass(frozen=True)
class Signature:
    """What a function takes and returns."""

    name: str
    parameters: tuple[Parameter, ...]
    result: str

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
            found[name] = Signature(name, parameters, result.strip())
    return found


def _parameter(word: str) -> Parameter:
    return Parameter(word.rstrip("?*+"), word[-1] in "?*", word[-1] in "*+")


SIGNATURES: Mapping[str, Signature] = _read(TABLE)
