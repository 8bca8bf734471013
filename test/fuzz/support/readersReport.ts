import type { Compared } from '../../support/json/comparedReaders.ts';

/** What a comparison of the readers of JSON has seen. */
export interface ComparedReaders extends Compared {
  readonly documents: number;
  readonly seed: number;
  readonly minutes: number;
  /** The day of the run. */
  readonly date: string;
}

declare module 'vitest' {
  interface TaskMeta {
    /** What the test has compared, for the report. */
    comparedReaders?: ComparedReaders;
  }
}

/** Returns the report's section about a comparison, in Markdown. */
export function readersSection({ documents, accepted, values, refused, seed, minutes, date }: ComparedReaders): string {
  const rows = Object.entries(refused).map(([reason, times]) => `| ${reason} | ${number(times)} |`);
  return `
## The readers of JSON

The command and the server read files by one scanner, each with a selection of its own of what it looks into. On ${date}, with
\`FUZZ_SEED=${seed}\`, ${number(documents)} documents of a hostile grammar, cut at random places, were read in ${minutes.toFixed(1)} minutes by the command,
by an import, by the scanner with random selections, and as the file of a request, each compared with \`JSON.parse\`. It accepts ${number(accepted)}
of them. All agree which these are, and where each of ${number(values)} values ends. Refused on purpose, although it is JSON:

| reason | times |
| --- | --- |
${rows.join('\n')}
| more than 1,000,000 levels of nesting, or a number of more than 1,000 bytes | not generated |
`;
}

function number(value: number): string {
  return value.toLocaleString('en');
}
