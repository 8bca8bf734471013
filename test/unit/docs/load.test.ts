import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LoadClient } from '../../load/support/client.ts';
import { allKinds } from '../../load/support/kinds/allKinds.ts';
import { Places } from '../../load/support/places.ts';
import { parseXml } from '../../support/documents/xml.ts';

const read = (name: string) => readFileSync(new URL(`../../../docs/reliability/${name}`, import.meta.url), 'utf8');
const sections = read('load.md').split('\n## ').slice(1);
const kinds = allKinds({
  client: new LoadClient('http://localhost'),
  token: '',
  random: Math.random,
  imports: new Places(1),
  exports: new Places(1),
});

describe('docs/reliability/load.md', () => {
  it('has a run of 15 minutes on each store', () => {
    expect(sections.map((section) => section.split('\n')[0])).toEqual(['SQLite', 'Firestore']);
    expect(read('load.md')).toContain('; SQLite 15 minutes, Firestore 15 minutes.');
  });

  it.each(['SQLite', 'Firestore'])('has every kind of request on %s, its answers as asked', (store) => {
    const section = sections.find((each) => each.startsWith(store)) ?? '';
    const rows = section.split('\n').map((line) => line.split(' | '));
    for (const { name, asked } of kinds) {
      const row = rows.find(([first]) => first === `| ${name}`) ?? [];
      expect({ name, unasked: row.at(-1) }).toEqual({ name, unasked: '0 |' });
      for (const answer of asked)
        expect({ name, answers: row.at(-2) }).toEqual({ name, answers: expect.stringContaining(`${answer}: `) });
    }
  });

  it.each(['load-sqlite.svg', 'load-firestore.svg'])('shows %s', (name) => {
    expect(sections.some((section) => section.includes(`](${name})`))).toBe(true);
    expect(parseXml(read(name)).name).toBe('svg');
  });
});
