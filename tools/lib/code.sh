#!/usr/bin/env bash
# Sourced by tools/check; does nothing by itself.

# code_matching EXPRESSION ALLOWANCE FILE...
#
# Prints "file:line: text" for each line of Swift or C whose code matches the extended regular expression. Comments and
# the text of string literals do not count as code; interpolated expressions do. With ALLOWANCE `allow`, lines with
# `// allowed: <reason>` are passed over.
code_matching() {
    local expression="$1" allowance="$2"
    shift 2
    if (($# == 0)); then
        return 0
    fi
    LC_ALL=C EXPRESSION="$expression" ALLOWANCE="$allowance" awk '
        # A stack of what encloses the present place: code at its bottom, then strings and the code that is interpolated
        # into them, in turn. Block comments nest in Swift, not in C.
        function enter_code() { depth++; kind[depth] = "code"; parentheses[depth] = 0 }
        function enter_string(hashes, quote) {
            depth++; kind[depth] = "string"; closing[depth] = quote hashes; escape[depth] = "\\" hashes
        }
        function hashes_at(text) { match(text, /^#*/); return substr(text, 1, RLENGTH) }

        # Reads one token of code at the head of `text`; returns its length. 0: the rest is a comment.
        function read_code(text,   hashes, after, end) {
            if (substr(text, 1, 2) == "//") return 0
            if (substr(text, 1, 2) == "/*") { comments = 1; code = code " "; return 2 }
            if (!swift && match(text, /^\x27(\\.|[^\x27\\])+\x27/)) return RLENGTH
            hashes = swift ? hashes_at(text) : ""
            after = substr(text, length(hashes) + 1)
            if (substr(after, 1, 1) == "\"") {
                quote = swift && substr(after, 1, 3) == "\"\"\"" ? "\"\"\"" : "\""
                enter_string(hashes, quote)
                code = code "\""
                return length(hashes) + length(quote)
            }
            if (hashes != "" && substr(after, 1, 1) == "/") {
                end = index(substr(after, 2), "/" hashes)
                if (end > 0) return 2 * length(hashes) + 1 + end
            }
            if (hashes != "") { code = code hashes; return length(hashes) }
            code = code substr(text, 1, 1)
            if (substr(text, 1, 1) == "(") parentheses[depth]++
            if (substr(text, 1, 1) == ")" && --parentheses[depth] < 0 && depth > 0) depth--
            return 1
        }

        function read_string(text,   size) {
            size = length(escape[depth])
            if (substr(text, 1, size) == escape[depth]) {
                if (swift && substr(text, size + 1, 1) == "(") { enter_code(); code = code "(" }
                return size + 1
            }
            size = length(closing[depth])
            if (substr(text, 1, size) == closing[depth]) { depth--; code = code "\""; return size }
            return 1
        }

        function read_comment(text) {
            if (substr(text, 1, 2) == "*/") { comments--; return 2 }
            if (swift && substr(text, 1, 2) == "/*") { comments++; return 2 }
            return 1
        }

        FNR == 1 { depth = -1; enter_code(); comments = 0; swift = FILENAME ~ /\.swift$/ }
        {
            code = ""; at = 1; size = length($0)
            while (at <= size) {
                text = substr($0, at)
                if (comments > 0) step = read_comment(text)
                else if (kind[depth] == "code") step = read_code(text)
                else step = read_string(text)
                if (step == 0) break
                at += step
            }
            # A string in one pair of quotes ends with its line, even where its closing quote is missing.
            if (kind[depth] == "string" && closing[depth] !~ /^"""/) depth--
            if (code !~ ENVIRON["EXPRESSION"]) next
            if (ENVIRON["ALLOWANCE"] == "allow" && $0 ~ /\/\/ allowed: *[^ ]/) next
            print FILENAME ":" FNR ": " $0
        }
    ' "$@"
}
