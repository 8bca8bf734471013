import { expect, it } from 'vitest';
import { parseXml } from '../support/documents/xml.ts';
import { junit } from './junit.ts';
import type { Outcome } from './runRow.ts';

const result = (name: string, outcome: Outcome) => ({
  row: { name, origin: 'zitadel 1.1', feature: 'documented' as const, steps: [] },
  outcome,
});

it('writes results as a well-formed document, whatever a server answered', () => {
  const answer = 'body <a href="x">&\u0000\ud800</a>\r\n instead of ]]>';
  const document = parseXml(
    junit(
      [
        result('passes', { kind: 'passed' }),
        result('differs', { kind: 'decided', why: 'Why it differs.' }),
        result('fails "so"', { kind: 'failed', differences: ['status 500', answer] }),
        result('gets no answer', { kind: 'lost', differences: ['no response: socket hang up'] }),
        result('is not run', { kind: 'not run', why: 'no token' }),
      ],
      'zitadel',
    ),
  );
  const [suite] = document.children;
  expect(document.attributes).toMatchObject({
    name: 'conformance',
    tests: '5',
    failures: '2',
    skipped: '1',
    errors: '0',
  });
  expect(suite?.attributes).toMatchObject({ name: 'reference zitadel', tests: '5' });
  expect(suite?.children.map(({ attributes }) => attributes.name)).toEqual([
    'passes',
    'differs',
    'fails "so"',
    'gets no answer',
    'is not run',
  ]);
  const [passed, differs, failed, lost, skipped] = suite?.children ?? [];
  expect(passed?.children).toEqual([]);
  expect(differs?.children[0]).toMatchObject({ name: 'system-out', text: 'Why it differs.' });
  expect(failed?.children[0]).toMatchObject({ name: 'failure', attributes: { message: 'status 500' } });
  expect(failed?.children[0]?.text).toContain('body <a href="x">&\ufffd\ufffd</a>\r\n instead of ]]>');
  expect(lost?.children[0]).toMatchObject({ name: 'failure', attributes: { message: 'no response: socket hang up' } });
  expect(skipped?.children[0]).toMatchObject({ name: 'skipped', attributes: { message: 'no token' } });
});
