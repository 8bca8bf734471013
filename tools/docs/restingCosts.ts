// The monthly costs of a project in Google Cloud that receives no requests.

const HOURS = 730;
const SECONDS = HOURS * 3_600;

/** An amount that is paid each month. */
interface Cost {
  readonly what: string;
  /** Google's list price in US dollars, in `us-central1`. */
  readonly price: string;
  readonly dollars: number;
}

/** The costs of a project with any number of instances. */
const project: readonly Cost[] = [
  {
    what: 'two forwarding rules',
    price: '0.025 an hour for the first five rules',
    dollars: 0.025 * HOURS,
  },
  { what: 'Cloud Armor: one policy with three rules', price: '5, and 1 for each rule', dollars: 5 + 3 },
  { what: 'nine conditions of alerts on metrics', price: '0.10 each; none for alerts on logs', dollars: 9 * 0.1 },
];

/** The costs of each instance. */
const instance: readonly Cost[] = [
  {
    what: 'at most 13 time series, which alerts read every 30 s',
    price: '0.35 for a million',
    dollars: (13 * SECONDS * 0.35) / 30 / 1e6,
  },
  {
    what: '52,560 calls of the uptime check, each with one read',
    price: '0.03 for 100,000 reads; the calls of 19 instances are free',
    dollars: (52_560 * 0.03) / 1e5,
  },
  { what: 'one version of the master key', price: '0.06', dollars: 0.06 },
];

const process: Cost = {
  what: 'each process of `min_instances`: one CPU and 512 MiB',
  price: '0.0000025 for an idle second of a CPU, and of a GiB',
  dollars: SECONDS * 1.5 * 0.0000025,
};

/** Renders the monthly costs as a Markdown table with their sums. */
export function restingCostsTable(): string {
  const sum = [...project, ...instance].reduce((dollars, cost) => dollars + cost.dollars, 0);
  const rows = [
    ...project.map((cost) => ['the project', cost] as const),
    ...[...instance, process].map((cost) => ['an instance', cost] as const),
  ].map(([payer, { what, price, dollars }]) => [payer, what, price, dollars.toFixed(2)]);
  const sums = [
    ['', '**a project with one instance**', '', `**${sum.toFixed(2)}**`],
    ['', '**the same with `min_instances = 1`**', '', `**${(sum + process.dollars).toFixed(2)}**`],
  ];
  const head = ['for', 'what', 'price', 'US dollars a month'];
  return [head, head.map(() => '---'), ...rows, ...sums].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
