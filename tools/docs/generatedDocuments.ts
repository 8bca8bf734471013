import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportLosses } from '../../cli/zitadel/export/exportContent.ts';
import { allReleases } from '../../shared/organisation/zitadelReleases.ts';
import { configurationDocument } from './configurationDocument.ts';
import { errorsDocument } from './errorsDocument.ts';
import { firestoreIndexes } from './firestoreIndexes.ts';
import { ignoredFieldsList, sectionsTable } from './sectionsTable.ts';
import { inputsTable, outputsTable, settingsTable } from './terraformInterface.ts';
import { filledFieldsTable } from './zitadelFacts.ts';

const FIRST_LINE = '<!-- Generated from the source by `npm run docs`. -->';

/**
 * The functions that generate parts of documents. The outer key is the path of the document, the inner key is the name
 * of the part. In the document, a part is between `<!-- generated: NAME -->` and `<!-- end -->`.
 */
const parts: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'docs/migrating.md': {
    losses: () =>
      exportLosses(allReleases)
        .map((loss) => `- ${loss}`)
        .join('\n'),
  },
  'docs/zitadel.md': {
    filled: filledFieldsTable,
    ignored: ignoredFieldsList,
    sections: sectionsTable,
  },
  'terraform/README.md': { inputs: inputsTable, outputs: outputsTable, settings: settingsTable },
};

/** Returns the generated documents. The key is the path in the repository, the value is the content. */
export function generatedDocuments(): ReadonlyMap<string, string> {
  const documents = [
    ['docs/configuration.md', configurationDocument()],
    ['docs/errors.md', errorsDocument()],
  ] as const;
  return new Map([
    ['firestore.indexes.json', firestoreIndexes()],
    ...documents.map(([path, text]) => [path, `${FIRST_LINE}\n\n${text}\n`] as const),
    ...Object.entries(parts).map(([path, byName]) => [path, withParts(path, byName)] as const),
  ]);
}

const root = join(import.meta.dirname, '../..');
const PART = /(<!-- generated: (\w+) -->\n\n).*?(\n\n<!-- end -->)/gs;

function withParts(path: string, byName: Readonly<Record<string, () => string>>): string {
  const missing = new Set(Object.keys(byName));
  const text = readFileSync(join(root, path), 'utf8').replace(
    PART,
    (_part, start: string, name: string, end: string) => {
      const generate = byName[name];
      if (generate === undefined) throw new Error(`${path} has a part ${name} that nothing generates`);
      missing.delete(name);
      return `${start}${generate()}${end}`;
    },
  );
  if (missing.size > 0) throw new Error(`${path} lacks the generated part ${[...missing].join(', ')}`);
  return text;
}
