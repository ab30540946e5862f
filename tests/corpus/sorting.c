/* Textbook algorithms, as people write them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loop.h"

static int data[512], work[512];

NOINLINE void bubble(int *v, int n)
{
	int swapped;

	do { LOOP(bubble_pass, 1); swapped = 0;
		for (int i = 1; i < n; i++) { LOOP(bubble_step, 2);
			if (v[i - 1] > v[i]) {
				int t = v[i];
				v[i] = v[i - 1];
				v[i - 1] = t;
				swapped = 1;
			}
		}
	} while (swapped);
}

NOINLINE void insertion(int *v, int n)
{
	for (int i = 1; i < n; i++) { LOOP(insert_outer, 1);
		int x = v[i], j = i;
		while (j > 0 && v[j - 1] > x) { LOOP(insert_inner, 2);
			v[j] = v[j - 1];
			j--;
		}
		v[j] = x;
	}
}

NOINLINE void shell(int *v, int n)
{
	for (int gap = n / 2; gap > 0; gap /= 2) { LOOP(shell_gap, 1);
		for (int i = gap; i < n; i++) { LOOP(shell_i, 2);
			int x = v[i], j = i;
			for (; j >= gap && v[j - gap] > x; j -= gap) { LOOP(shell_j, 3);
				v[j] = v[j - gap];
			}
			v[j] = x;
		}
	}
}

NOINLINE void quick(int *v, int lo, int hi)
{ LOOP(quick, 1, tail);
	int i = lo, j = hi, pivot = v[(lo + hi) / 2];

	while (i <= j) { LOOP(quick_outer, 2);
		while (v[i] < pivot) { LOOP(quick_left, 3, shared);
			i++;
		}
		while (v[j] > pivot) { LOOP(quick_right, 3);
			j--;
		}
		if (i <= j) {
			int t = v[i];
			v[i++] = v[j];
			v[j--] = t;
		}
	}
	if (lo < j)
		quick(v, lo, j);
	if (i < hi)
		quick(v, i, hi);
}

static void sift(int *v, int root, int n)
{
	while (2 * root + 1 < n) { LOOP(sift, 1);
		int child = 2 * root + 1;
		if (child + 1 < n && v[child + 1] > v[child])
			child++;
		if (v[root] >= v[child])
			return;
		int t = v[root];
		v[root] = v[child];
		v[child] = t;
		root = child;
	}
}

NOINLINE void heap(int *v, int n)
{
	for (int i = n / 2; i-- > 0;) { LOOP(heapify, 1);
		sift(v, i, n);
	}
	for (int end = n - 1; end > 0; end--) { LOOP(heap_take, 1);
		int t = v[0];
		v[0] = v[end];
		v[end] = t;
		sift(v, 0, end);
	}
}

NOINLINE int search(const int *v, int n, int x)
{
	int lo = 0, hi = n;

	while (lo < hi) { LOOP(search, 1);
		int mid = lo + (hi - lo) / 2;
		if (v[mid] < x)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

NOINLINE size_t scan(const char *s)
{
	size_t n = 0;

	while (*s) { LOOP(scan_words, 1);
		while (*s == ' ') { LOOP(scan_blank, 2, shared);
			s++;
		}
		if (!*s)
			break;
		n = n * 3 + 1;
		do { LOOP(scan_word, 2); s++;
			n++;
		} while (*s && *s != ' ');
	}
	return n;
}

static void shuffle(int n)
{
	for (int i = 0; i < n; i++) { LOOP(shuffle, 1);
		work[i] = data[(i * 37 + 11) % 512];
	}
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 200, sum = 0;

	for (int i = 0; i < 512; i++) { LOOP(main_fill, 1, maybe);
		data[i] = (i * 7919 + n) % 1009;
	}
	shuffle(n);
	bubble(work, n);
	sum = sum * 3 + work[n / 3];
	shuffle(n - 1);
	insertion(work, n - 1);
	sum = sum * 3 + work[n / 4];
	shuffle(n - 2);
	shell(work, n - 2);
	sum = sum * 3 + work[n / 5];
	shuffle(n - 3);
	quick(work, 0, n - 4);
	sum = sum * 3 + work[n / 6];
	shuffle(n - 4);
	heap(work, n - 4);
	sum = sum * 3 + work[n / 7] + search(work, n - 4, 500);
	printf("%d %zu\n", sum, scan(argc > 2 ? argv[2] : " how many words  are these "));
	return 0;
}
