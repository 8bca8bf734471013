import { expect, it } from 'vitest';
import { readRecord } from '../../../shared/organisation/record.ts';
import { recordSections } from '../../../shared/organisation/sections.ts';
import { sectionNamed } from '../../support/fixtures/sectionNamed.ts';

it('a record has its defaults and its id in canonical form, and each field in its place', () => {
  const app = readRecord(sectionNamed('oidcApps'), { appId: 'A', app: { name: 'n', projectId: 'P' } }, 'O');
  expect(app.body).toBe(
    '{"appId":"A","app":{"projectId":"P","name":"n","responseTypes":["OIDC_RESPONSE_TYPE_CODE"],"grantTypes":["OIDC_GRANT_TYPE_AUTHORIZATION_CODE"],"clockSkew":"0s"}}',
  );
  const machine = { user: { userId: 'inner', userName: 'n', name: 'N' }, userId: 'outer' };
  expect(readRecord(sectionNamed('machineUsers'), machine, 'O').body).toBe(
    '{"userId":"outer","user":{"userName":"n","name":"N","userId":"outer"},"state":"USER_STATE_ACTIVE"}',
  );
});

it.each(recordSections.filter(({ defaults, canonicalise }) => (defaults ?? canonicalise) !== undefined))(
  'the canonical form of $name is that of its own JSON',
  (section) => {
    const inner = section.inner === undefined ? {} : { [section.inner]: { name: 'n', userName: 'n' } };
    const { body } = readRecord(section, inner, 'O');
    expect(readRecord(section, JSON.parse(body), 'O').body).toBe(body);
  },
);
