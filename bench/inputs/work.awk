# Fields, patterns, substitution, associative arrays, functions.
function digits(n) { return n < 10 ? 1 : 1 + digits(int(n / 10)) }
{
	count[$3] += $2
	if ($0 ~ /9.*7.*5/) found++
	if ($6 == "brown" && $2 % 3) odd[substr($2, 1, 3)]++
	gsub(/o/, "0")
	long += length($0) + digits($1)
}
END {
	for (k in count) total += count[k]
	for (k in odd) kinds++
	print total, found, kinds, long
}
