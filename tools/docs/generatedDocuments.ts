import { commandDocument } from './commandDocument.ts';
import { configurationDocument } from './configurationDocument.ts';
import { errorsDocument } from './errorsDocument.ts';
import { performanceDocument, performancePlots } from './performanceDocument.ts';

const FIRST_LINE = '<!-- Generated from the source by `npm run docs`. -->';

/** Generates documents from the product's own tables and the benchmark's results; returns them by their paths in the repository. */
export function generatedDocuments(): ReadonlyMap<string, string> {
  const documents = [
    ['docs/command.md', commandDocument()],
    ['docs/configuration.md', configurationDocument()],
    ['docs/errors.md', errorsDocument()],
    ['docs/performance.md', performanceDocument()],
  ] as const;
  const plots = [...performancePlots()].map(([name, svg]) => [`docs/${name}`, svg] as const);
  return new Map([...documents.map(([path, text]) => [path, `${FIRST_LINE}\n\n${text}\n`] as const), ...plots]);
}
