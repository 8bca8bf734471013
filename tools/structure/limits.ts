/**
 * The limits of the structure, which `npm run check:static` enforces. Tighten one when the code gets better; loosen one
 * in a commit of its own that says why. Biome enforces the length of functions and forbids import cycles.
 */
export const limits: readonly Limit[] = [
  { figure: 'lines of the product', atMost: 39_240 },
  { figure: 'files of the product', atMost: 314 },
  { figure: 'median of the lines per file', atLeast: 105 },
  { figure: 'percentage of files under 40 lines', atMost: 10 },
  { figure: 'local imports per 100 lines of code', atMost: 6.1 },
  { figure: 'files that a removal passes', atMost: 36 },
  { figure: 'files that an import of one user passes', atMost: 98 },
  { figure: 'files that an export to a bucket passes', atMost: 65 },
  { figure: 'lines of tests', atMost: 61_700 },
  { figure: 'lines of tools, bench and build', atMost: 5_000 },
  { figure: 'words of documents', atMost: 17_000 },
];

interface Limit {
  readonly figure: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}
