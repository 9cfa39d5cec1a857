import { errors } from '../../errors.ts';

const head = `# Errors

<!-- Generated from the table of errors by \`npm run openapi\`. Do not edit. -->

Every error is a problem document (RFC 9457) with a stable \`code\`. Its \`detail\` explains the problem and the next step; that text may change:

\`\`\`json
${JSON.stringify(
  {
    type: '/docs/errors#validation_failed',
    title: errors.validation_failed[1],
    status: 400,
    detail: 'to is required',
    code: 'validation_failed',
    requestId: 'req_01JZ8Q5T2M0000000000000000',
    errors: [{ field: 'to', code: 'required', message: 'is required' }],
  },
  null,
  2,
)}
\`\`\`

Your server shows this list at \`/docs/errors\`, with the operations that return each code. [Troubleshooting](troubleshooting.md) leads from a symptom to its cause. Errors with the status 429 or 503 pass by themselves; \`Retry-After\` is the number of seconds to wait. Repeat a send with its \`Idempotency-Key\`, so that nothing goes out twice: after \`session_unavailable\`, the message can be stored and go out later. Quote the \`requestId\` when you report a problem: the server's log has it too.
`;

/** Writes `docs/errors.md`: every code by its status. */
export function errorsList(): string {
  const byStatus = Map.groupBy(Object.entries(errors), ([, [status]]) => status);
  const sections = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, entries]) => {
      const rows = entries.map(([code, [, title]]) => `| \`${code}\` | ${title}. |`);
      return [`## Status ${status}`, '', '| code | meaning |', '|---|---|', ...rows, ''].join('\n');
    });
  return [head, ...sections].join('\n');
}
