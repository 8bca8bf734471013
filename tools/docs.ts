import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generatedDocuments } from './docs/generatedDocuments.ts';
import { SAMPLE_REPORT, sampleReport } from './docs/sampleReport.ts';

const root = join(import.meta.dirname, '..');

for (const [path, text] of generatedDocuments()) await writeFile(join(root, path), text);

// To update the sample report, do the first migration that the documentation describes, then run `npm run docs --
// .local/first.json`.
const [, , report] = process.argv;
if (report !== undefined) await writeFile(join(root, SAMPLE_REPORT), await sampleReport(report));
