import { STATUS_CODES } from 'node:http';
import { errors } from '../../server/src/errors.ts';
import { escapeHtml, phrase } from './html.ts';
import type { Content } from './layout.ts';
import type { OperationLine } from './openApi.ts';

/** The list of errors. The `type` of a problem document is the address of its entry. */
export function renderErrors(operations: readonly OperationLine[]): Content {
  const byStatus = Map.groupBy(Object.entries(errors), ([, [status]]) => status);
  const statuses = [...byStatus].sort(([a], [b]) => a - b);
  const sections = statuses.map(
    ([status, entries]) =>
      `<h2 id="status-${status}">${status} ${STATUS_CODES[status]}</h2>\n${entries
        .map(([code, [, title]]) => renderError(code, title, operations))
        .join('\n')}`,
  );
  return {
    title: 'Errors',
    description: 'All errors of the API, with their stable codes.',
    path: 'errors',
    html: `<h1>Errors</h1>
<p class="lead">Every error is a problem document (RFC 9457). Its <code>code</code> is one of the codes below, which never change their meaning. Its <code>detail</code> says what is wrong and what to do; that text may change.</p>
<div class="code"><pre tabindex="0"><code>${escapeHtml(JSON.stringify(example, null, 2))}</code></pre></div>
<p>Quote the <code>requestId</code> when you report a problem: the server's log has it too. Errors with the status 429 or 503 pass by themselves; their <code>Retry-After</code> says when to try again.</p>
${sections.join('\n')}`,
    outline: statuses.map(([status]) => ({
      id: `status-${status}`,
      text: `${status} ${STATUS_CODES[status]}`,
      level: 2,
    })),
  };
}

function renderError(code: string, title: string, operations: readonly OperationLine[]): string {
  const having = operations.filter(({ errors: codes }) => codes.has(code));
  const links = having.map(({ id, route }) => `<li><a href="/docs#${id}"><code>${route}</code></a></li>`);
  const list =
    having.length === 0
      ? ''
      : `<details><summary>${having.length === 1 ? '1 operation returns' : `${having.length} operations return`} it</summary><ul>${links.join('')}</ul></details>`;
  return `<section class="error" id="${code}"><h3><code>${code}</code> <a class="anchor" href="#${code}" aria-label="Link to ${code}">#</a></h3><p>${phrase(title)}.</p>${list}</section>`;
}

const [status, title] = errors.validation_failed;
const example = {
  type: '/docs/errors#validation_failed',
  title,
  status,
  detail: 'to is required',
  code: 'validation_failed',
  requestId: 'req_01JZ8Q5T2M0000000000000000',
  errors: [{ field: 'to', code: 'required', message: 'is required' }],
};
