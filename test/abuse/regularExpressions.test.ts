import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { check } from 'recheck';
import { describe, expect, it } from 'vitest';
import { root } from '../../tools/program.ts';

/** Reasons why an expression with more than linear time never gets a long text. */
const harmless: Readonly<Record<string, string>> = {
  [/([\d.]+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/.source]: 'reads a duration of at most 100 characters',
  [/\p{Nd}{2}|(?:[-x\u2010-\u2015\u2212\u30fc\uff0d-\uff0f \u00a0\u00ad\u200b\u2060\u3000()（）［］.[\]/~\u2053\u223c\uff5e*]*\p{Nd}){3}/u
    .source]: 'reads a phone number of at most 50 characters',
  [/(?:;ext=\p{Nd}{1,7}|(?:e?xt(?:ensi(?:o\u0301?|ó))?n?|ｅ?ｘｔｎ?|[,xｘX#＃~～]|int|anexo|ｉｎｔ)[:.．]?[ \u00a0\t,-]*\p{Nd}{1,7}#?|[- ]\p{Nd}{1,5}#)$/u
    .source]: 'reads a phone number of at most 50 characters',
  [/=+$/.source]: 'reads base64 of the service, which has at most two of them',
  [/\uFFFD+$/.source]: 'reads an id that was cut to 1,400 bytes',
  [/\/+$/.source]: "reads the operator's address of an emulator",
  [/\[([^\]]*\{\w+\}[^\]]*)\]/.source]: "reads the service's own templates of errors",
  [/(--[a-z-]+ )?\{(\w+)\}/.source]: "reads the service's own templates of errors",
  [/--\S+ [A-Z]\S*/.source]: "reads the usage of the command's own verbs",
  [/[^.]+$/.source]: "reads the command's own names of ZITADEL's events",
  [/^\{.*"result":.*"(?:loginNames|preferredLoginName|primaryDomain|userId)"/s.source]:
    'reads the first 4,096 bytes of a file',
};

/**
 * The files that build an expression from their own texts. Those of the first two read texts of requests: each is
 * anchored, and its parts begin with characters that the part before cannot match.
 */
const assembling = [
  'shared/organisation/hashFormats.ts',
  'shared/organisation/valueRules.ts',
  'cli/commands/help.ts',
  'cli/terminal/callTexts.ts',
];

interface File {
  readonly name: string;
  readonly literals: readonly { readonly pattern: string; readonly flags: string }[];
  readonly isAssembling: boolean;
}

async function readFiles(): Promise<File[]> {
  const folders = ['functions', 'shared', 'cli', 'local'].map(async (folder) =>
    (await readdir(join(root, folder), { recursive: true })).map((name) => join(folder, name)),
  );
  const names = (await Promise.all(folders)).flat().filter((name) => /\.[cm]?[jt]s$/.test(name));
  return Promise.all(names.map(parseFile));
}

async function parseFile(name: string): Promise<File> {
  const { program, errors } = parseSync(name, await readFile(join(root, name), 'utf8'));
  if (errors[0] !== undefined) throw new Error(`${name}: ${errors[0].message}`);
  const literals: { pattern: string; flags: string }[] = [];
  let isAssembling = false;
  new Visitor({
    Literal: (node) => {
      if ('regex' in node) literals.push(node.regex);
    },
    NewExpression: ({ callee }) => {
      isAssembling ||= callee.type === 'Identifier' && callee.name === 'RegExp';
    },
  }).visit(program);
  return { name, literals, isAssembling };
}

describe('the regular expressions of the product', () => {
  it('take linear time for any text, or only match short texts', async () => {
    const files = await readFiles();
    expect(
      files
        .filter(({ isAssembling }) => isAssembling)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(assembling.toSorted());
    const literals = files.flatMap((file) => file.literals);
    const different = [...new Map(literals.map((one) => [`/${one.pattern}/${one.flags}`, one])).values()];
    expect(different.length).toBeGreaterThan(100);
    const slow = new Set<string>();
    for (const { pattern, flags } of different)
      if ((await check(pattern, flags, { timeout: null })).status !== 'safe') slow.add(pattern);
    expect([...slow].sort()).toEqual(Object.keys(harmless).sort());
  });
});
