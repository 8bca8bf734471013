import { DataOrgSchema } from '@zitadel/proto/zitadel/admin_pb.js';
import { describe, expect, it } from 'vitest';
import { restoreFieldOrder } from '../../../shared/organisation/recordBody.ts';
import { sections } from '../../../shared/organisation/sections.ts';

const filled = sections.filter(({ exported }) => exported?.order !== undefined);

describe('the order of the fields that an export fills in', () => {
  it.each(filled)("is that of the definition's fields: $name", ({ name, exported }) => {
    const record = DataOrgSchema.fields.find((field) => field.jsonName === name)?.message;
    const { inner, fields } = exported?.order ?? {};
    const object = inner === undefined ? record : record?.fields.find(({ jsonName }) => jsonName === inner)?.message;
    expect(fields).toEqual(object?.fields.map(({ jsonName }) => jsonName));
  });

  it('exists for every section with such fields, except inner ids, which are put in their place', () => {
    const filling = sections.filter(({ exported }) => exported?.fill !== undefined);
    expect(filled.map(({ name }) => name)).toEqual(filling.map(({ name }) => name));
  });

  it('is restored without another change', () => {
    const [section] = sections.filter(({ name }) => name === 'oidcApps');
    const json = { appId: 'A', app: { name: 'n', clockSkew: '0s', projectId: 'P' } };
    if (section !== undefined) restoreFieldOrder(section, json);
    expect(JSON.stringify(json)).toBe('{"appId":"A","app":{"projectId":"P","name":"n","clockSkew":"0s"}}');
  });
});
