import { invalid } from './apiError.ts';
import { type Fields, fieldsOf, listOf, textOf, textsOf } from './json.ts';

const fieldsIn = (value: unknown) => listOf(value).map(fieldsOf);

/** Throws what Google rejects of a URL map: tests that fail, more than 100 of them, equal priorities. */
export function checkTests(map: Fields): void {
  const tests = fieldsIn(map.tests);
  if (tests.length > 100) throw invalid('a URL map has at most 100 tests');
  for (const test of tests) {
    const found = serviceFor(map, textOf(test.host), textOf(test.path));
    if (found !== test.service)
      throw invalid(`${textOf(test.host)}${textOf(test.path)} maps to ${found} instead of ${textOf(test.service)}`);
  }
  for (const matcher of fieldsIn(map.pathMatchers)) {
    const priorities = fieldsIn(matcher.routeRules).map(({ priority }) => priority);
    if (new Set(priorities).size !== priorities.length)
      throw invalid(`priorities of ${textOf(matcher.name)} are equal`);
  }
}

function serviceFor(map: Fields, host: string, path: string): string {
  const rule = fieldsIn(map.hostRules).find(({ hosts }) => textsOf(hosts).includes(host));
  const matcher = fieldsIn(map.pathMatchers).find(({ name }) => name === rule?.pathMatcher);
  if (matcher === undefined) return textOf(map.defaultService);
  const rules = fieldsIn(matcher.routeRules).toSorted((one, other) => Number(one.priority) - Number(other.priority));
  const found = rules.find(({ matchRules }) => fieldsIn(matchRules).some((match) => matches(match, path)));
  return textOf((found ?? { service: matcher.defaultService }).service);
}

/** In a template, `*` is one segment. */
function matches({ fullPathMatch, pathTemplateMatch }: Fields, path: string): boolean {
  if (textOf(fullPathMatch) !== '') return fullPathMatch === path;
  const [template, segments] = [textOf(pathTemplateMatch).split('/'), path.split('/')];
  return (
    template.length === segments.length && template.every((part, index) => part === '*' || part === segments[index])
  );
}
