import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../../../cli/terminal/command.ts';
import { configVariables } from '../../../../shared/config.ts';
import { codes } from '../../../../shared/errors/identityError.ts';
import { limitDefinitions } from '../../../../shared/limits.ts';
import { organisationSection, sections } from '../../../../shared/organisation/allSections.ts';
import { generatedDocuments } from '../../../../tools/docs/generatedDocuments.ts';
import { errorNames } from '../../../fixtures/errorNames.ts';

const root = join(import.meta.dirname, '../../../..');
const generated = generatedDocuments();
const read = (path: string) => readFileSync(join(root, path), 'utf8');

describe('the generated documents', () => {
  it.each([...generated])('%s is up to date with the source', async (path, text) => {
    const committed = await readFile(join(root, path), 'utf8');
    expect(committed, `${path} is outdated: run npm run docs, and commit the file`).toBe(text);
  });

  it('describe every variable of the configuration', () => {
    const ofLimits = limitDefinitions.flatMap(({ variable }) => variable ?? []);
    expect(ofLimits.length).toBeGreaterThan(5);
    for (const name of [...configVariables.map((one) => one.name), ...ofLimits])
      expect(generated.get('docs/configuration.md')).toContain(`| \`${name}\` |`);
  });
});

describe('the document of the command', () => {
  const text = read('docs/command.md');

  it('lists every exit code', () => {
    for (const { code } of Object.values(exitCodes)) expect(text).toContain(`\n- \`${code}\`: `);
  });
});

describe('the documents of the errors', () => {
  const errors = generated.get('docs/errors.md') ?? '';
  const zitadel = read('docs/zitadel.md');
  const specification = read('docs/specification.md');

  it('list every error by its name', () => {
    for (const name of Object.keys(errorNames)) expect(errors).toContain(`\`${name}\``);
  });

  it('list every code with its number and HTTP status', () => {
    for (const [name, { number, httpStatus }] of Object.entries(codes))
      expect(specification).toContain(`\n| ${number} | ${name} | ${httpStatus} | `);
  });

  it.each([organisationSection, ...sections])('describe an existing record of the section $name', ({ error }) => {
    const rows = zitadel.split('\n').filter((line) => line.startsWith('| ') && line.includes(`\`${error.type}\``));
    expect(rows.filter((row) => row.includes(`\`${error.exists.id}\``))).not.toEqual([]);
  });

  it.each([organisationSection, ...sections])('describe the additional fields of the section $name', (section) => {
    const { kept = [] } = section.additional ?? {};
    const described = (text: string, path: string) =>
      text.split('\n').some((line) => namesField(line, section.name, path));
    for (const { path } of kept) expect(described(specification, path), path).toBe(true);
  });

  it('list the rules of every field of ZITADEL, and every ignored field, in generated parts', () => {
    const part = (name: string) =>
      new RegExp(`<!-- generated: ${name} -->\\n\\n(.*?)\\n\\n<!-- end -->`, 's').exec(zitadel)?.[1] ?? '';
    for (const { name, inner, additional } of [organisationSection, ...sections]) {
      const row =
        part('sections')
          .split('\n')
          .find((line) => line.split(' | ')[0]?.includes(`\`${name}\``)) ?? '';
      expect(row, name).toContain(inner === undefined ? '`' : `\`${inner}\`: `);
      for (const { path, reason } of additional?.ignored ?? [])
        expect(part('ignored')).toContain(`- \`${path}\` of \`${name}\`: ${reason}`);
    }
    expect(part('sections')).toContain('`email.email` an e-mail address');
    expect(part('sections')).toContain('`value` 1 to 500,000 bytes');
  });

  it('have every id of an error that the source contains', async () => {
    const sources = ['functions', 'shared'].map((folder) => idsIn(join(root, folder)));
    const ids = new Set((await Promise.all(sources)).flat());
    expect(ids.size).toBeGreaterThan(70);
    const documented = [errors, zitadel, specification].join();
    const isDocumented = (id: string) => [`\`${id}\``, `(${id})\``].some((form) => documented.includes(form));
    expect([...ids].filter((id) => !isDocumented(id))).toEqual([]);
  });
});

/** Whether a line of the specification describes a field of a section's entries. */
function namesField(line: string, section: string, path: string): boolean {
  return line.startsWith(`- \`${path}\``) && line.includes(`\`${section}\``);
}

const ID = /'((?:AUTH|COMM|COMMAND|DOMAIN|EMAIL|IMPORT|LANG|MODEL|ORG|Org|PHONE|POLICY|PROJECT|V2|V3)-\w+)'/g;

async function idsIn(folder: string): Promise<string[]> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.ts'));
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  return texts.flatMap((source) => [...source.matchAll(ID)].map(([, id = '']) => id));
}
