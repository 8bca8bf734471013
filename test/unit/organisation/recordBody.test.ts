import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../shared/json/jsonObject.ts';
import { recordSections } from '../../../shared/organisation/allSections.ts';
import { fillForExport } from '../../../shared/organisation/fillForExport.ts';
import { readRecord } from '../../../shared/organisation/record.ts';
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

describe('a record with the facts about identity providers that exports add', () => {
  const link = { userId: 'U', idpId: 'I', providedUserId: 'E', providedUserName: 'e' };
  const policy = { allowRegister: true, idps: [{ idpId: 'I' }, { idpId: 'other' }], forceMfaLocalOnly: true };
  const records: ReadonlyMap<string, readonly JsonObject[]> = new Map([
    ['userLinks', [link, { ...link, idpName: 'old' }, { ...link, idpType: 'IDP_TYPE_OIDC' }]],
    ['loginPolicy', [policy, { ...policy, idps: [{ idpId: 'I', ownerType: 'IDP_OWNER_TYPE_SYSTEM' }] }]],
  ]);
  const find = (id: string) => (id === 'I' ? { orgId: 'O', name: 'n', type: 2 } : undefined);

  it.each(recordSections.filter(({ exported }) => exported?.fill !== undefined))(
    'has the canonical form in $name',
    (section) => {
      const stored = (records.get(section.name) ?? []).map((record) => readRecord(section, record, 'O').json);
      const filled = stored.map((record) => fillForExport(section, record, 'O', find));
      expect(filled).not.toEqual([]);
      for (const record of filled)
        expect(JSON.stringify(record)).toBe(readRecord(section, structuredClone(record), 'O').body);
    },
  );
});
