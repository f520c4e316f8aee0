#!/usr/bin/env python3
"""Asks clang what it makes of C and Objective-C types, and writes the answers down as test vectors.

    python3 Tests/Tools/Vectors/generate.py        # from the top of the package; clang has to be on the path

For each of five targets a source file is compiled to LLVM text, in which `@encode`, `sizeof` and `_Alignof` are
constants and the types of methods and instance variables are strings. No target's headers or libraries are needed.
The output, two Swift files of tab-separated text, is kept in the repository: the tests need no compiler.

What an encoding does not say, no reader can know. These are left out of the ordinary vectors, and a few of each are
kept apart as AMBIGUOUS, where the tests expect the layout of the type that the encoding usually stands for:
packed and over-aligned records; vectors and 16-bit floating point (clang writes nothing or a blank for them);
Apple bit-fields not declared `unsigned int` or, above 32 bits, `unsigned long long`; bit-fields without a name,
except in instance variables of Apple's runtime; records of C++ with base classes.
"""

import pathlib
import random
import re
import subprocess

TARGETS = {
    "x86_64-linux": ["-target", "x86_64-unknown-linux-gnu", "-fobjc-runtime=gnustep-2.0"],
    "aarch64-linux": ["-target", "aarch64-unknown-linux-gnu", "-fobjc-runtime=gnustep-2.0"],
    "arm64-apple": ["-target", "arm64-apple-macosx15"],
    "x86_64-apple": ["-target", "x86_64-apple-macosx15"],
    "arm64_32-apple": ["-target", "arm64_32-apple-watchos11"],
}
TESTS = pathlib.Path(__file__).resolve().parents[2] / "Unit" / "ForwardcastEncodingTests"

PREAMBLE = """
@class NSString, NSArray, NSView;
@protocol Drawing @end
@protocol Storing @end
struct Point { double x, y; };
struct Size { double width, height; };
struct Rect { struct Point origin; struct Size size; };
struct Range { unsigned long location, length; };
struct Mixed { signed char c; int i; short s; double d; _Bool b; };
struct Node { struct Node *next; id value; };
struct Opaque;
struct Empty {};
struct Tail { int count; signed char bytes[]; };
struct Flags { unsigned a:1; unsigned b:3; unsigned c:28; unsigned d:7; };
struct Small { signed char c; };
struct Three { signed char c[3]; };
struct Nine { signed char c[9]; };
struct Big { signed char c[17]; };
struct Floats { float f[3]; };
struct LongDouble { signed char c; long double d; };
union Number { int i; double d; void *p; };
union Odd { signed char c[5]; short s; };
typedef struct { int a; struct { short b; union { signed char c; int d; }; } e; } Anonymous;
enum Plain { plain }; enum Byte : unsigned char { byte }; enum Wide : long long { wide };
"""

SCALARS = [
    "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long",
    "unsigned long", "long long", "unsigned long long", "__int128", "unsigned __int128", "float", "double",
    "long double", "_Bool",
]
COMPLEX = ["signed char", "short", "int", "unsigned int", "long long", "float", "double", "long double"]
RECORDS = [
    "struct Point", "struct Size", "struct Rect", "struct Range", "struct Mixed", "struct Node", "struct Empty",
    "struct Tail", "struct Flags", "struct Small", "struct Three", "struct Nine", "struct Big", "struct Floats",
    "struct LongDouble", "union Number", "union Odd", "Anonymous", "enum Plain", "enum Byte", "enum Wide",
]
POINTERS = [
    "id", "Class", "SEL", "char *", "const char *", "unsigned char *", "void *", "const void *", "int (*)(int)",
    "void (^)(id, int)", "NSString *", "id<Drawing>", "NSString **", "Class *", "SEL *", "void (^*)(void)",
    "struct Point *", "const struct Point *", "struct Node *", "struct Node **", "struct Opaque *",
    "struct Opaque **", "union Number *", "Anonymous *", "int (*)[3]", "int *const *", "volatile int *",
    "_Atomic(int) *", "_Complex double *", "__int128 *", "long double *", "const char **",
]
ARRAYS = [
    "int[3]", "int[0]", "signed char[17]", "double[2][3]", "short[2][3][4]", "id[2]", "char *[4]",
    "struct Point[3]", "struct Mixed[2]", "struct Point *[5]", "union Odd[3]", "struct Empty[4]", "long double[2]",
    "_Complex float[3]", "_Bool[7]", "Anonymous[2]", "struct Flags[2]", "__int128[2]", "struct Nine[1000000]",
    "int (*[3])(void)",
]
# Members of structs; the letter in front says where the encoding tells all: a everywhere, l on Linux only.
MEMBERS = [
    ("a", "unsigned a:3; unsigned b:5;"), ("a", "unsigned a:30; unsigned b:5;"), ("a", "signed char c; unsigned a:3;"),
    ("a", "unsigned a:3; signed char c;"), ("a", "unsigned a:31; signed char c; unsigned b:2;"),
    ("a", "unsigned a:3; unsigned :0; unsigned b:3;"), ("a", "signed char c; unsigned :0; signed char d;"),
    ("a", "unsigned :0; signed char c;"), ("a", "unsigned long long a:40; unsigned b:3;"),
    ("a", "unsigned a:3; unsigned long long b:40;"), ("a", "unsigned long long a:33; unsigned long long b:33;"),
    ("a", "short s; unsigned a:20; signed char c;"), ("a", "signed char c[3]; unsigned a:8; unsigned b:1;"),
    ("a", "unsigned a:32; unsigned b:32; unsigned c:1;"), ("a", "double d; unsigned a:1;"),
    ("a", "unsigned a:1; double d; unsigned b:1;"), ("a", "unsigned a:24; short s;"), ("a", "unsigned a:25; signed char c;"),
    ("a", "unsigned long long a:64; unsigned b:1;"), ("a", "unsigned a:1; struct Point p;"),
    ("a", "struct { unsigned a:5; unsigned b:5; } i; unsigned c:6;"),
    ("a", "union { unsigned a:9; signed char c; } u; signed char d;"), ("a", "unsigned __int128 a:100; unsigned b:9;"),
    ("l", "signed char a:3; signed char b:6;"), ("l", "short a:9; short b:9;"), ("l", "_Bool a:1; _Bool b:1;"),
    ("l", "char a:2; int b:7; long long c:30;"), ("l", "long long a:3; signed char c;"),
    ("l", "signed char c; int a:4; short b:12;"), ("l", "unsigned char a:7; unsigned short b:10; unsigned d:20;"),
    ("l", "enum Byte a:2; enum Plain b:4;"), ("l", "long long a:40; int :0; short b:4;"), ("l", "short s:3; short :0; short t:3;"),
    ("l", "signed char c; long long :0; signed char d;"), ("l", "__int128 a:70; int b:4;"), ("l", "_Bool a:1; signed char b:7; int c:25;"),
    ("a", "signed char c; double d; signed char e;"), ("a", "signed char c; short s; int i; long long q;"),
    ("a", "long long q; int i; short s; signed char c;"), ("a", "signed char c; long double d;"),
    ("a", "signed char c; __int128 t;"), ("a", "signed char c; _Complex float z;"), ("a", "signed char c; _Complex double z;"),
    ("a", "signed char c; _Complex long double z; signed char d;"), ("a", "struct Empty e; int i;"),
    ("a", "int i; struct Empty e;"), ("a", "struct Three a, b; short s;"), ("a", "signed char c; struct Rect r; signed char d;"),
    ("a", "signed char c; union Odd u; signed char d;"), ("a", "signed char c; union Number u[2]; signed char d;"),
    ("a", "_Atomic(int) i; signed char c;"), ("a", "signed char c; _Atomic(long long) q;"), ("a", "_Atomic(_Bool) b; _Atomic(short) s;"),
    ("a", "signed char c; _Atomic(_Complex double) z;"), ("a", "_Atomic(id) o; const int i; volatile short s;"),
    ("a", "const char *name; const struct Point *p; struct Opaque *o;"), ("a", "id o; NSString *s; id<Drawing> d; Class c; SEL a;"),
    ("a", "void (^b)(int); int (*f)(void); void *v;"), ("a", "int n; double d[];"), ("a", "int n; struct Rect r[];"),
    ("a", "struct { signed char c; } a[3]; struct { signed char c; int i; } b[2];"),
    ("a", "struct { struct { struct { struct { struct { signed char c; double d; } e; signed char f; } g; short h; } i; } j; } k; signed char l;"),
    ("a", "union { struct { signed char c; union { short s; long long q; }; }; signed char d[20]; }; int e;"),
    ("a", "struct Node *a[2][2]; struct Mixed m[2][2]; signed char c;"), ("a", "enum Byte a; enum Wide b; enum Plain c;"),
]
# Instance variables: quoted names on Apple's runtime, class names on all.
IVARS = [
    "NSString *", "id<Drawing>", "NSString<Drawing> *", "id<Drawing, Storing>", "NSString *[2]", "struct Rect", "struct Mixed",
    "struct Flags", "Anonymous", "union Number", "struct Node", "struct Rect[2]", "struct Rect *", "void (^)(NSString *, int)",
    "struct { NSString *a; id b; int c; }", "struct { id a; NSString *b; NSArray *c; }", "struct { id b; }", "struct { NSString *last; }",
    "struct { id<Drawing> p; NSString **q; id *r; Class s; }", "struct { NSString *a[2]; struct { id b; NSView *c; } d; id e; }",
    "struct { int u; struct { id a; int b; }; union { int q; NSString *s; }; }", "struct { const char *a; _Atomic(int) b; const id c; }",
    "struct { id a; struct { id b; } c[2]; }", "union { id a; NSString *b; void (^c)(id); }", "struct { int (*f)(id); void (^g)(id); id h; }",
    "struct { struct Opaque *a; struct Point *b; struct Point c; }", "_Complex double", "struct { id a; unsigned b:3; unsigned c:4; }",
]
APPLE_IVARS = [
    "struct { signed char c; unsigned :3; signed char d; }", "struct { id a; unsigned :0; unsigned b:3; }",
    "struct { unsigned :5; unsigned a:3; }", "union { unsigned :3; signed char c; }", "union { unsigned a:3; signed char c; }",
]
EVERYWHERE = list(TARGETS)
APPLE = ["arm64-apple", "x86_64-apple"]
AMBIGUOUS = [
    ("struct __attribute__((packed)) { signed char c; int i; }", EVERYWHERE), ("struct __attribute__((aligned(32))) { int i; }", EVERYWHERE),
    ("struct { signed char c; int i __attribute__((packed)); }", EVERYWHERE), ("struct __attribute__((packed)) { short s; double d; }", EVERYWHERE),
    ("struct { signed char c; _Bool b:1; }", APPLE), ("struct { unsigned char a:3; }", APPLE), ("struct { unsigned long long a:3; }", APPLE),
    ("struct { signed char c; unsigned :3; signed char d; }", ["x86_64-linux", *APPLE]), ("struct { float __attribute__((vector_size(16))) v; int i; }", EVERYWHERE),
]
RETURNS = ["void", "id", "_Bool", "double", "struct Rect", "int", "oneway void", "const char *", "long double", "NSString *",
           "struct Flags", "unsigned long", "Class", "signed char", "float", "union Odd", "_Complex double", "struct Point *"]
PARAMETERS = SCALARS + [f"_Complex {c}" for c in COMPLEX] + [r for r in RECORDS if r != "struct Tail"] + POINTERS + [
    "int *", "signed char *", "NSView *", "NSString<Storing> *", "_Atomic(char)", "_Atomic(int)", "_Atomic(double)", "const int", "const id",
    "void (^)(NSString *, struct Point, void (^)(int))", "NSString *(^)(void)", "id (^)(Class, SEL, const char *)"]
DIRECTED = ["in NSString *", "out int *", "inout int *", "bycopy id", "byref id", "in const char *", "out NSString **", "inout struct Point *"]
DECAYING = ["int x[3]", "struct Point x[2]", "id x[4]", "double x[2][3]"]


def random_member(source, depth, name):
    """One member of a struct that only uses what an encoding can say on every target."""
    choice = source.random()
    if depth > 0 and choice < 0.35:
        return f"{random_record(source, depth - 1)} {name};"
    if depth > 0 and choice < 0.45:
        return f"{random_record(source, depth - 1)} {name}[{source.randint(0, 4)}];"
    if choice < 0.52:
        width = source.randint(1, 32)
        return f"unsigned {name}:{width};"
    if choice < 0.55:
        return f"unsigned long long {name}:{source.randint(33, 64)};"
    if choice < 0.57:
        return "unsigned :0;"
    if choice < 0.65:
        return f"{source.choice(SCALARS)} {name}[{source.randint(0, 6)}];"
    if choice < 0.72:
        return f"{source.choice(['id', 'NSString *', 'struct Rect', 'struct Opaque *', 'void *'])} {name};"
    if choice < 0.77:
        return f"_Complex {source.choice(COMPLEX)} {name};"
    return f"{source.choice(SCALARS)} {name};"


def random_record(source, depth):
    word = "union" if source.random() < 0.25 else "struct"
    members = [random_member(source, depth, f"m{i}") for i in range(source.randint(1, 6))]
    if all(m == "unsigned :0;" for m in members):
        members.append("short s;")
    return f"{word} {{ {' '.join(members)} }}"


def declare(kind, name):
    """A C declaration of `name` with the type `kind`."""
    for mark in ("(*)", "(^)", "(^*)", "(*["):
        if mark in kind:
            at = kind.index(mark) + len(mark) - 1
            return kind[:at] + name + kind[at:]
    at = kind.find("[") if kind.endswith("]") else -1
    return f"{kind[:at]} {name}{kind[at:]}" if at > 0 else f"{kind} {name}"


def compile_source(source, arguments):
    command = ["clang", *arguments, "-w", "-fblocks", "-x", "objective-c", "-std=gnu17", "-S", "-emit-llvm", "-o", "-", "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def strings_of(ir):
    """Every string constant by the name of its global."""
    found = {}
    for name, length, text in re.findall(r'^(@(?:"[^"]*"|[\w.$]+)) = .*?constant \[(\d+) x i8\] (c"[^"]*"|zeroinitializer)', ir, re.M):
        body = text[2:-1] if text.startswith("c") else ""
        found[name] = re.sub(r"\\([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), body).rstrip("\0")
    return found


def numbers_of(ir):
    return {n: int(v) for n, v in re.findall(r"^@([sa]\d+(?:_\d+)?) = .*?global i(?:64|32) (\d+)", ir, re.M)}


def measure(label, kind):
    return (f"typedef {declare(kind, f't{label}')};\nconst char e{label}[] = @encode(t{label});\n"
            f"unsigned long s{label} = sizeof(t{label}), a{label} = _Alignof(t{label});\n")


def table(ir, marker):
    """The pointers in the rows of the metadata table whose global's name contains `marker`."""
    line = next(l for l in ir.splitlines() if re.match(rf'@"?{marker}', l))
    names = re.findall(r'ptr (@(?:"[^"]*"|[\w.$\\]+))', line[line.index(" = "):])
    return names


def types_vectors():
    source = random.Random(20)
    kinds = [("*", k) for k in SCALARS + [f"_Complex {c}" for c in COMPLEX] + RECORDS + POINTERS + ARRAYS]
    kinds += [("*", f"_Atomic({k})") for k in SCALARS + ["_Complex float", "_Complex long double", "id", "char *", "SEL"]]
    kinds += [("*" if where == "a" else "l", f"struct {{ {m} }}") for where, m in MEMBERS]
    kinds += [("*", random_record(source, 3)) for _ in range(90)]
    rows = {i: ([], []) for i in range(len(kinds))}
    for target, arguments in TARGETS.items():
        chosen = [i for i, (w, _) in enumerate(kinds) if w == "*" or "linux" in target]
        text = PREAMBLE + "".join(measure(i, kinds[i][1]) for i in chosen)
        ir = compile_source(text, arguments)
        strings, numbers = strings_of(ir), numbers_of(ir)
        for i in rows:
            known = i in chosen
            rows[i][0].append(strings[f"@e{i}"] if known else "-")
            rows[i][1].append(f"{numbers[f's{i}']}/{numbers[f'a{i}']}" if known else "-")
    plain = list(rows.values())

    named = []
    kinds = [("*", k) for k in IVARS] + [("apple", k) for k in APPLE_IVARS]
    rows = {i: ([], []) for i in range(len(kinds))}
    for target, arguments in TARGETS.items():
        chosen = [i for i, (w, _) in enumerate(kinds) if w in ("*",) or w in target]
        text = PREAMBLE + "".join(measure(i, kinds[i][1]) for i in chosen)
        text += "__attribute__((objc_root_class)) @interface K {\n"
        text += "".join(f"t{i} v{i};\n" for i in chosen) + "}\n@end\n@implementation K\n@end\n"
        ir = compile_source(text, arguments)
        strings, numbers = strings_of(ir), numbers_of(ir)
        names = table(ir, r"\.objc_ivar_list" if "linux" in target else r"_OBJC_\$_INSTANCE_VARIABLES_K")
        order = {}
        for k, name in enumerate(names):
            match = re.fullmatch(r"v(\d+)", strings.get(name, ""))
            if match:
                order[int(match[1])] = strings[names[k + 1]]
        for i in rows:
            known = i in chosen
            rows[i][0].append(order[i] if known else "-")
            rows[i][1].append(f"{numbers[f's{i}']}/{numbers[f'a{i}']}" if known else "-")
    named = list(rows.values())

    unclear = []
    for index, (kind, where) in enumerate(AMBIGUOUS):
        encodings, sizes = [], []
        for target, arguments in TARGETS.items():
            if target not in where:
                encodings.append("-"), sizes.append("-")
                continue
            ir = compile_source(PREAMBLE + measure(index, kind), arguments)
            numbers = numbers_of(ir)
            encodings.append(strings_of(ir)[f"@e{index}"])
            sizes.append(f"{numbers[f's{index}']}/{numbers[f'a{index}']}")
        unclear.append((encodings, sizes))
    return plain, named, unclear


def methods_vectors():
    source = random.Random(8)
    singles = [[p] for p in PARAMETERS + DIRECTED + DECAYING]
    mixed = [[source.choice(PARAMETERS + DIRECTED + DECAYING) for _ in range(source.randint(2, 6))] for _ in range(60)]
    methods = [("void", [])] + [(RETURNS[i % len(RETURNS)], p) for i, p in enumerate(singles + mixed)]
    rows = []
    for target, arguments in TARGETS.items():
        text, declarations, bodies = PREAMBLE, "", ""
        for m, (result, parameters) in enumerate(methods):
            words = [f"m{m}"]
            for k, parameter in enumerate(parameters):
                directions, kind = re.match(r"((?:in |out |inout |bycopy |byref )*)(.*)", parameter).groups()
                if " x[" in kind:
                    kind = kind.replace(" x[", "[")
                    text += f"typedef {declare(kind, f't{m}_{k}')};\n"
                    text += f"unsigned long s{m}_{k} = sizeof(void *), a{m}_{k} = _Alignof(void *);\n"
                else:
                    text += f"typedef {declare(kind, f't{m}_{k}')};\n"
                    text += f"unsigned long s{m}_{k} = sizeof(t{m}_{k}), a{m}_{k} = _Alignof(t{m}_{k});\n"
                words.append(f"{':' if k == 0 else f' x{k}:'}({directions}t{m}_{k})p{k}")
            plain = result.replace("oneway ", "")
            text += f"unsigned long s{m}_99 = {'0' if plain == 'void' else f'sizeof({plain})'};\n"
            head = f"- ({result}){''.join(words)}"
            declarations += f"{head};\n"
            bodies += f"{head} {{ __builtin_trap(); }}\n"
        text += f"@protocol Q\n{declarations}@end\n__attribute__((objc_root_class)) @interface K <Q>\n@end\n"
        text += f"@implementation K\n{bodies}@end\n"
        ir = compile_source(text, arguments)
        strings, numbers = strings_of(ir), numbers_of(ir)
        if "linux" in target:
            names = table(ir, r"\.objc_method_list")
            extended = [strings[n] for n in names[2::3]]
            short = [None] * len(extended)
        else:
            names = table(ir, r"_OBJC_\$_INSTANCE_METHODS_K")
            short = [strings[n] for n in names[1::3]]
            names = table(ir, r"_OBJC_\$_PROTOCOL_METHOD_TYPES_Q")
            extended = [strings[n] for n in names]
        assert len(extended) == len(methods), (target, len(extended), len(methods))
        column = []
        for m, (_, parameters) in enumerate(methods):
            sizes = [str(numbers[f"s{m}_99"])]
            sizes += [f"{numbers[f's{m}_{k}']}/{numbers[f'a{m}_{k}']}" for k in range(len(parameters))]
            column.append((short[m], extended[m], " ".join(sizes)))
        rows.append(column)
    result = []
    for m in range(len(methods)):
        cells = [column[m] for column in rows]
        result.append(([c[1] for c in cells], [c[2] for c in cells]))
        if any(c[0] is not None and c[0] != c[1] for c in cells):
            result.append((["-" if c[0] is None else c[0] for c in cells], ["-" if c[0] is None else c[2] for c in cells]))
    return result


def line(row):
    """Encoding and measure of the first target; then of the others, `=` where nothing changed since the one before."""
    cells = []
    for column in row:
        for i, cell in enumerate(column):
            assert "\t" not in cell and cell != "="
            cells.append("=" if i and cell == column[i - 1] else cell)
    return "\t".join(cells)


def write(file, about, tables):
    lines = [f"// {file}: {about}", "// Made by Tests/Tools/Vectors/generate.py from clang's answers; not edited by hand.",
             "// swift-format-ignore-file", "",
             "/// " + "; ".join(TARGETS) + ": an encoding for each, then a measure for each; `=` repeats the cell before, `-` is left out.",
             f"enum {file.removesuffix('.swift')} {{"]
    for name, rows in tables.items():
        lines.append(f'  static let {name} = #"""')
        lines += list(dict.fromkeys(line(r) for r in rows))
        lines.append('"""#')
    (TESTS / file).write_text("\n".join(lines) + "\n}\n")
    print(file, {name: len(dict.fromkeys(line(r) for r in rows)) for name, rows in tables.items()})


if __name__ == "__main__":
    plain, named, unclear = types_vectors()
    write("TypeVectors.swift", "sizes and alignments of types.", {"types": plain, "variables": named, "ambiguous": unclear})
    write("MethodVectors.swift", "frames of methods.", {"methods": methods_vectors()})
