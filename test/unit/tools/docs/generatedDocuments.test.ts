import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../../../../cli/commands.ts';
import { configVariables } from '../../../../shared/config.ts';
import { limitDefinitions } from '../../../../shared/limits.ts';
import { generatedDocuments } from '../../../../tools/docs/generatedDocuments.ts';
import { errorNames } from '../../../fixtures/errorNames.ts';

const root = join(import.meta.dirname, '../../../..');
const generated = generatedDocuments();

describe('the generated documents', () => {
  it.each([...generated])('%s is what the source says', async (path, text) => {
    const committed = await readFile(join(root, path), 'utf8');
    expect(committed, `${path} is outdated: run npm run docs, and commit the file`).toBe(text);
  });

  it('describe every variable of the configuration, and every command', () => {
    for (const { name } of configVariables) expect(generated.get('docs/configuration.md')).toContain(`| \`${name}\` |`);
    for (const { variable = '' } of limitDefinitions)
      expect(generated.get('docs/configuration.md')).toContain(variable);
    for (const { name } of commands) expect(generated.get('docs/command.md')).toContain(`| \`${name}`);
  });
});

describe('the document of the errors', () => {
  const text = generated.get('docs/errors.md') ?? '';

  it('has every error', () => {
    for (const [name, code] of Object.entries(errorNames)) expect(text).toContain(` \`${code}\` | \`${name}\` | `);
  });

  it("has every id of ZITADEL's errors that the source names", async () => {
    const sources = ['functions', 'shared'].map((folder) => idsIn(join(root, folder)));
    const ids = new Set((await Promise.all(sources)).flat());
    expect(ids.size).toBeGreaterThan(50);
    expect([...ids].filter((id) => !['`ID`', '(ID)`'].some((form) => text.includes(form.replace('ID', id))))).toEqual(
      [],
    );
  });
});

const ID = /'((?:AUTH|COMM|COMMAND|DOMAIN|EMAIL|IMPORT|ORG|Org|PHONE|POLICY|PROJECT|V2|V3)-\w+)'/g;

async function idsIn(folder: string): Promise<string[]> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.ts'));
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  return texts.flatMap((source) => [...source.matchAll(ID)].map(([, id = '']) => id));
}
