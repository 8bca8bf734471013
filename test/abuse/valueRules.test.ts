import { describe, expect, it } from 'vitest';
import { organisationSection, sections } from '../../shared/organisation/allSections.ts';
import type { ValueRule } from '../../shared/organisation/sections/section.ts';
import { awkwardStrings } from '../support/strings/awkwardStrings.ts';
import { fieldPlaces } from '../support/strings/fieldPlaces.ts';

/** Far above the limit of any field, because only a long text shows how the time of a rule grows. */
const BYTES = 50_000;
const numbers = `[${'1,'.repeat(BYTES)}1]`;
/** A limit that does not depend on the machine's speed. Quadratic time is several times longer. */
const MOST_US = processorUs(() => {
  for (let call = 0; call < 50; call++) JSON.parse(numbers);
});

/** The rules whose texts are too short to take long, whatever the rule does with them. */
const ofShortTexts: Readonly<Record<string, string>> = {
  'humanUsers.user.phone': 'a phone number has at most 200 characters',
};

/** The rules of values by their first field; several fields share most of them. */
const rules = new Map<ValueRule, string>();
for (const { name, values = {} } of [organisationSection, ...sections])
  for (const [path, rule] of Object.entries(values)) if (!rules.has(rule)) rules.set(rule, `${name}.${path}`);

/** Returns a text as the value of a field, or of all fields of a message. */
function valueIn(path: string, text: string): unknown {
  const inner = fieldPlaces.flatMap(({ title, steps }) =>
    title.startsWith(`${path.replaceAll('[]', '')}.`) ? [[String(steps.at(-1)), text] as const] : [],
  );
  return inner.length === 0 ? text : Object.fromEntries(inner);
}

/** Returns the CPU time of a call, in microseconds. */
function processorUs(call: () => unknown): number {
  const before = process.threadCpuUsage();
  call();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

describe('the rule of the value', () => {
  const tried = [...rules].filter(([, path]) => !Object.hasOwn(ofShortTexts, path));

  it.each(tried.map(([rule, path]) => [path, rule] as const))('%s takes linear time for any text', (path, rule) => {
    const isSlow = ({ build }: (typeof awkwardStrings)[number]) => {
      const value = valueIn(path, build(BYTES));
      // The first call of a function, or a pause of the process, can take as long.
      return [1, 2, 3].every(() => processorUs(() => rule(value)) > MOST_US);
    };
    expect(awkwardStrings.find(isSlow)?.what).toBeUndefined();
  });

  it('reads texts of any length, with few exceptions', () => {
    expect([...rules.values()]).toEqual(expect.arrayContaining(Object.keys(ofShortTexts)));
  });
});
