/** A Markdown text without its code, fenced, indented or inline, which holds neither headings nor links. */
function withoutCode(markdown: string): string {
  return markdown.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()#]/g, ' '));
}

/** The texts of a Markdown file's headings, in their order. */
function headings(markdown: string): string[] {
  const text = markdown.replace(/^```[\s\S]*?^```$/gm, '');
  return [...text.matchAll(/^#{1,6} (.+?)\s*$/gm)].map(([, heading = '']) => heading);
}

/** The numbers of those headings that begin with one: `4.1` of `### 4.1 Removing the factor`. */
export function sectionNumbers(markdown: string): string[] {
  return headings(markdown).flatMap((heading) => /^(\d+(?:\.\d+)*) /.exec(heading)?.[1] ?? []);
}

/** The anchors of a Markdown file's headings, as GitHub derives them; repeated ones get a number. */
export function anchors(markdown: string): Set<string> {
  const seen = new Map<string, number>();
  const names = headings(markdown).map((heading) => {
    const name = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-');
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    return times === 0 ? name : `${name}-${times}`;
  });
  return new Set(names);
}

/** A link to a file of the repository: its path relative to the linking file, empty for that file itself. */
export interface Link {
  readonly path: string;
  readonly anchor: string | undefined;
}

/** The links of a Markdown file that do not lead to another site. */
export function internalLinks(markdown: string): Link[] {
  const targets = [...withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#');
      return { path, anchor };
    });
}

/** The rows of the page on dependencies: each package, and the functions in whose bundles it is. */
export function dependencyRows(markdown: string): { readonly name: string; readonly bundles: readonly string[] }[] {
  return [...markdown.matchAll(/^\| `([^`]+)` \|.*\|([^|]*)\|$/gm)].map(([, name = '', bundles = '']) => ({
    name,
    bundles: bundles.split(',').flatMap((text) => text.trim() || []),
  }));
}
