import { issueText } from '../errors/issueText.ts';
import { parseObject, valueAt } from '../json/jsonObject.ts';
import type { KeptValue, Section } from './sections/section.ts';
import { activated } from './sections/sectionStates.ts';
import { statesOf } from './states.ts';
import type { FieldFact } from './zitadelFacts.ts';

export function fieldFacts(section: Section): readonly FieldFact[] {
  const { fields = [] } = section.zitadel ?? {};
  const states = statesOf(section) === undefined ? [] : [activated];
  const kept = (section.additional?.kept ?? []).filter((field) => field.type !== 'factor');
  return [...states, ...fields, ...kept.map(unknownToZitadel)];
}

const UNKNOWN_FIELD = 'ZITADEL does not have the field `{field}`';

function unknownToZitadel({ path }: KeptValue): FieldFact {
  const params = { field: path };
  return {
    does: 'imports not',
    fields: [path],
    text: issueText({ text: UNKNOWN_FIELD }, params, 'http'),
    steps: [
      {
        reason: 'field_not_imported',
        because: UNKNOWN_FIELD,
        params: () => params,
        remedy: 'store the value of the field elsewhere if you need it',
        applies: ({ body }) => valueAt(parseObject(body), path) !== undefined,
      },
    ],
  };
}
