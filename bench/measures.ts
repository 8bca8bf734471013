import type { Measure } from './measure.ts';
import { besides } from './measures/beside.ts';
import { latencies } from './measures/latencies.ts';
import { sizes } from './measures/sizes.ts';
import { exports, imports } from './measures/transfers.ts';

/** All measures, in the order in which they are printed. */
export const measures: readonly Measure[] = [...besides, ...imports, ...exports, ...sizes, ...latencies];

/** The measures whose goals are about a million users. */
export const measuresOfMillion: readonly string[] = ['memory', 'cost'];
