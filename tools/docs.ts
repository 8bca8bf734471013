import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generatedDocuments } from './docs/generatedDocuments.ts';

const root = join(import.meta.dirname, '..');

for (const [path, text] of generatedDocuments()) await writeFile(join(root, path), text);
