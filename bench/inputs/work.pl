# Hashes, regular expressions, sorting with a callback, recursion, closures.
use strict;
use warnings;
no warnings 'recursion';

sub ackermann {
	my ($m, $n) = @_;
	return $n + 1 if !$m;
	return ackermann($m - 1, 1) if !$n;
	return ackermann($m - 1, ackermann($m, $n - 1));
}

for my $round (1 .. (shift // 12)) {
	my (%seen, $x);
	$x = $round;
	for my $i (1 .. 60000) {
		$x = ($x * 1103515245 + 12345) & 0x7fffffff;
		my $text = sprintf("%d-%s", $x % 5000, chr(97 + $x % 26) x 3);
		$seen{$text}++ if $text =~ /^(\d+)-([a-m]+)$/ && $1 % 3;
		$text =~ s/([0-9])([0-9])/$2$1/g;
	}
	my @order = sort { $seen{$b} <=> $seen{$a} || $a cmp $b } keys %seen;
	print scalar(@order), " $order[0] ", ackermann(2, 90), "\n";
}
