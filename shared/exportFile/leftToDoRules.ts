// The rules for the manual steps after an import. Some apply to every target, others result from ZITADEL's behaviour.

import type { IssueRow } from '../errors/issueText.ts';
import { manualSteps } from '../errors/manualStepReasons.ts';
import { recordSections } from '../organisation/allSections.ts';
import { fieldFacts } from '../organisation/fieldFacts.ts';
import type { Section, SectionName } from '../organisation/sections/section.ts';
import {
  equalButForCase,
  type FieldFact,
  type ManualStep,
  type MissingProviders,
  mayApply,
  type RecordFact,
  type SecretField,
  stepRow,
} from '../organisation/zitadelFacts.ts';
import { allReleases, type ReleaseRange } from '../organisation/zitadelReleases.ts';

/** The content of a file, and how the file is imported. */
export interface FileContent {
  /**
   * Whether the file contains these secrets. Undefined until the file was read to its end; until then, all steps are
   * collected.
   */
  readonly withPasswords?: boolean;
  readonly withOtp?: boolean;
  readonly withKeys?: boolean;
  /** Whether the file is for ZITADEL. */
  readonly forZitadel: boolean;
  /** The releases that the target may run; absent if unknown. */
  readonly releases?: ReleaseRange;
  /**
   * Whether this command sends the file to ZITADEL. The command then reads the responses, and deactivates or locks the
   * records that are deactivated or locked in the file.
   */
  readonly inSteps?: boolean;
  /** The secrets that the request selected. If the file lacks one of these secrets, the source lacks it too. */
  readonly asked?: Readonly<Record<SecretField, boolean>>;
}

/** A rule for a manual step after an import of a file. */
export interface LeftToDoRule extends Pick<ManualStep, 'scope' | 'unlessValidated' | 'applies' | 'params'> {
  /** The names of the sections whose records require the step. */
  readonly sections: readonly SectionName[];
  /** The stable name of the step, for programs. */
  readonly reason: string;
  /** The step's text and remedy. */
  readonly row: IssueRow;
  /**
   * `field` is the kind of secrets whose absence from the file requires this step. If the request selected these
   * secrets, the source lacks them, and `step` replaces this step.
   */
  readonly lacks?: { readonly field: SecretField; readonly step: Pick<LeftToDoRule, 'reason' | 'row'> };
  /** Whether the file's content requires the step; by default always. */
  readonly when?: (content: FileContent) => boolean;
}

/** Creates the rule of a manual step for every target. */
function stepOf(reason: keyof typeof manualSteps, ...names: readonly SectionName[]): LeftToDoRule {
  return { reason, sections: names, row: manualSteps[reason] };
}

/** The kinds of secrets that a file can lack. */
type LackedKind = {
  [Step in keyof typeof manualSteps]: Step extends `${infer Kind}_not_in_source` ? Kind : never;
}[keyof typeof manualSteps];

/**
 * Creates the rule for a file without some secrets.
 * @param forZitadel whether the rule applies to files for ZITADEL, or to other files; by default to both
 */
function ofLacking(
  kind: LackedKind,
  field: SecretField,
  names: readonly SectionName[],
  forZitadel?: boolean,
): LeftToDoRule {
  const when = (content: FileContent) =>
    content[field] !== true && (forZitadel === undefined || content.forZitadel === forZitadel);
  const step = stepOf(`${kind}_not_in_source`);
  return { ...stepOf(`${kind}_missing`, ...names), scope: 'file', when, lacks: { field, step } };
}

/** The rules for every target (specification 8.4). */
const forEveryTarget: readonly LeftToDoRule[] = [
  { ...stepOf('instance_not_exported', 'org'), scope: 'file' },
  ofLacking('passwords', 'withPasswords', ['humanUsers'], false),
  ofLacking('otp', 'withOtp', ['humanUsers'], false),
  ofLacking('totp_seeds', 'withOtp', ['humanUsers'], true),
  { ...stepOf('factors_not_exported', 'humanUsers'), scope: 'file' },
  { ...stepOf('tokens_not_exported', 'machineUsers'), scope: 'file' },
  ofLacking('machine_keys', 'withKeys', ['machineUsers']),
  ofLacking('app_keys', 'withKeys', ['apiApps', 'oidcApps']),
  {
    ...stepOf('client_secret_missing', 'oidcIdps'),
    when: (content) => !content.forZitadel,
    applies: ({ clientSecret }) => clientSecret === undefined,
  },
];

type ZitadelFact = FieldFact | RecordFact;

const uses = recordSections.flatMap((section) =>
  [...fieldFacts(section), ...(section.zitadel?.records ?? [])].map((fact: ZitadelFact) => ({
    fact,
    section: section.name,
  })),
);

/**
 * The rules for the manual steps of each fact about ZITADEL. The rules of a fact apply to all sections that share the
 * fact.
 */
const rulesByFact: ReadonlyMap<ZitadelFact, readonly LeftToDoRule[]> = new Map(
  [...Map.groupBy(uses, ({ fact }) => fact)].map(([fact, shared]) => {
    // A rule sees only one record. The import into ZITADEL itself adds the steps that depend on other records too.
    const sections = 'dependsOnFile' in fact ? [] : shared.map(({ section }) => section);
    return [fact, (fact.steps ?? []).map((step) => ({ ...stepRule(fact, step), sections }))];
  }),
);

/** Returns the rules of a fact about a record. */
export function rulesOf(fact: RecordFact): readonly LeftToDoRule[] {
  return rulesByFact.get(fact) ?? [];
}

/** Creates the rule of a manual step for ZITADEL only. */
function stepRule(fact: Omit<FieldFact, 'does' | 'fields'>, step: ManualStep): LeftToDoRule {
  const { reason, because: _, remedy: __, byHand, ifWith, ifWithout, ...others } = step;
  return {
    ...others,
    reason,
    sections: [],
    row: stepRow(fact, step),
    when: (content) =>
      content.forZitadel &&
      mayApply(fact, content.releases ?? allReleases) &&
      !(byHand && content.inSteps) &&
      (ifWith === undefined || content[ifWith] !== false) &&
      (ifWithout === undefined || content[ifWithout] !== true),
  };
}

/** All rules that depend on a single record, in the order of the entries. */
export const leftToDoRules: readonly LeftToDoRule[] = [...forEveryTarget, ...[...rulesByFact.values()].flat()];

/** The rule for a record that refers to organisations outside the file, or to their projects. */
export const omittedOrganisations = stepOf('organisations_missing');

/** The rule for a record whose name or key differs only in case from the name or key of another record. */
export const repeatedName = stepRule(equalButForCase, equalButForCase);

const providersToCreate = stepOf('providers_missing');

const providerRules: ReadonlyMap<MissingProviders, LeftToDoRule> = new Map(
  recordSections.flatMap(({ zitadel: { missingProviders: missing } = {} }) =>
    missing === undefined ? [] : [[missing, stepRule(missing, missing)] as const],
  ),
);

/** The rules that depend on several records. */
export const otherRules: readonly LeftToDoRule[] = [
  omittedOrganisations,
  repeatedName,
  providersToCreate,
  ...providerRules.values(),
];

/** Returns the rule for a record that refers to identity providers outside the file. */
export function missingProviders({ zitadel }: Section, { forZitadel }: FileContent): LeftToDoRule {
  const missing = forZitadel ? zitadel?.missingProviders : undefined;
  return (missing && providerRules.get(missing)) ?? providersToCreate;
}
