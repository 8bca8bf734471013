import { configurationDocument } from './configurationDocument.ts';
import { errorsDocument } from './errorsDocument.ts';

const FIRST_LINE = '<!-- Generated from the source by `npm run docs`. -->';

/** Generates documents from the product's own tables; returns them by their paths in the repository. */
export function generatedDocuments(): ReadonlyMap<string, string> {
  const documents = [
    ['docs/configuration.md', configurationDocument()],
    ['docs/errors.md', errorsDocument()],
  ] as const;
  return new Map(documents.map(([path, text]) => [path, `${FIRST_LINE}\n\n${text}\n`]));
}
