/*
 * Checks of the conformance suite that are missed, as `scenario:check`, with the reason. A missed check that is not
 * listed fails the test, and so does an entry that no check needs.
 */

/** Names of checks, with the reason why they are excluded. */
export type Exclusions = Readonly<Record<string, string>>;

const allFor = (reason: string, names: readonly string[]): Exclusions =>
  Object.fromEntries(names.map((name) => [name, reason]));

/** Scenarios with one check of the same name. */
const alone = (names: readonly string[]): string[] => names.map((name) => `${name}:${name}`);

const tasks = allFor('The Tasks extension is optional and not served: every tool answers within its request.', [
  'tasks-lifecycle:tasks-sync-tool-call',
  'tasks-lifecycle:sep-2663-result-type-task-on-create',
  'tasks-lifecycle:sep-2663-tasks-get-status-working',
  'tasks-lifecycle:sep-2663-tasks-get-status-completed',
  'tasks-lifecycle:sep-2663-tool-error-uses-completed-status',
  'tasks-lifecycle:sep-2663-tasks-get-status-failed',
  'tasks-lifecycle:sep-2663-cancel-ack-empty-result',
  'tasks-lifecycle:tasks-cancel-terminal-idempotent-ack',
  'tasks-capability-negotiation:tasks-extension-advertised',
  'tasks-capability-negotiation:sep-2663-tasks-methods-non-declaring',
  'tasks-capability-negotiation:sep-2663-server-rejects-undeclared-client',
  'tasks-capability-negotiation:tasks-per-request-meta-opt-in',
  'tasks-wire-fields:tasks-wire-field-renames',
  'tasks-wire-fields:tasks-no-early-ttl-expiry',
  'tasks-wire-fields:tasks-no-related-task-meta-on-inlined-result',
  'tasks-request-state-removal:tasks-request-state-removal-setup',
  'tasks-mrtr-input:sep-2663-tasks-get-status-input-required',
  'tasks-mrtr-input:tasks-mrtr-tasks-update-resumes',
  'tasks-mrtr-input:tasks-mrtr-partial-fulfillment',
  'tasks-request-headers:tasks-headers-tolerate-mcp-method-on-tools-call',
  'tasks-request-headers:sep-2663-routing-headers-accepted-on-tasks-get',
  'tasks-request-headers:sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get',
  'tasks-dispatch-and-envelope:tasks-server-directed-creation-no-hint',
  'tasks-dispatch-and-envelope:sep-2663-legacy-task-param-ignored',
  'tasks-dispatch-and-envelope:tasks-immediate-result-shortcut',
  'tasks-dispatch-and-envelope:tasks-result-type-complete-on-non-task-responses',
  'tasks-dispatch-and-envelope:sep-2663-durable-create-strong-consistency',
  'tasks-dispatch-and-envelope:sep-2663-tasks-get-invalid-task-id-32602',
  'tasks-required-task-error:sep-2663-server-returns-missing-capability-when-required',
  'tasks-mrtr-composition:sep-2663-mrtr-synchronous-before-task-creation',
  'tasks-status-notifications:tasks-status-notifications',
]);

const sessions = allFor('A warning: a stream beside the answers, and its resumption, belong to a session.', [
  'server-sse-multiple-streams:server-sse-multiple-streams-session',
  'server-sse-polling:server-sse-polling-session',
  'server-sse-polling:server-sse-priming-event',
  'server-sse-polling:server-sse-retry-field',
]);

/** Run against the fixtures. */
const named = allFor('Requests a tool, resource or prompt of the fixtures by name.', [
  ...alone([
    'completion-complete',
    'tools-call-simple-text',
    'tools-call-image',
    'tools-call-audio',
    'tools-call-embedded-resource',
    'tools-call-mixed-content',
    'tools-call-error',
    'tools-call-with-progress',
    'resources-read-text',
    'resources-read-binary',
    'resources-templates-read',
    'prompts-get-simple',
    'prompts-get-with-args',
    'prompts-get-embedded-resource',
    'prompts-get-with-image',
  ]),
  'json-schema-2020-12:json-schema-2020-12-tool-found',
]);

const subscriptions = allFor(
  'Subscriptions of this revision belong to a session. Events come by webhook or GET /events/stream.',
  alone(['resources-subscribe', 'resources-unsubscribe']),
);

export const fixtureExclusions: Readonly<Record<string, Exclusions>> = {
  '2026-07-28': tasks,
  '2025-11-25': { ...sessions, ...subscriptions },
};

export const productExclusions: Readonly<Record<string, Exclusions>> = {
  '2026-07-28': {
    ...tasks,
    ...named,
    ...allFor('Requests a tool or prompt of the fixtures that asks the client for input.', [
      'input-required-result-basic-elicitation:sep-2322-elicitation-incomplete',
      'input-required-result-basic-sampling:sep-2322-sampling-incomplete',
      'input-required-result-basic-list-roots:sep-2322-list-roots-incomplete',
      'input-required-result-request-state:sep-2322-request-state-incomplete',
      'input-required-result-multiple-input-requests:sep-2322-multiple-inputs-incomplete',
      'input-required-result-multi-round:sep-2322-multi-round-r1',
      'input-required-result-missing-input-response:sep-2322-missing-response-rerequests',
      'input-required-result-non-tool-request:sep-2322-non-tool-incomplete',
      'input-required-result-result-type:sep-2322-result-type-included',
      'input-required-result-tampered-state:sep-2322-reject-tampered-state',
      'input-required-result-capability-check:sep-2322-respect-client-capabilities',
      'input-required-result-ignore-extra-params:sep-2322-ignore-unexpected-params',
      'server-stateless:sep-2575-server-rejects-undeclared-capability',
      'server-stateless:sep-2575-missing-capability-http-400',
      'server-stateless:sep-2575-http-server-no-independent-requests-on-stream',
    ]),
    'server-stateless:sep-2575-server-no-log-without-loglevel': 'No tool of the product sends logs to the client.',
    ...allFor('The lists change only with the permissions of the key, and this is not announced.', [
      'server-stateless:sep-2575-server-sends-prompts-list-changed-on-subscription',
      'server-stateless:sep-2575-server-sends-tools-list-changed-on-subscription',
    ]),
    ...allFor('No tool of the product has a parameter that is mirrored in a header.', [
      'http-custom-header-server-validation:sep-2243-server-no-xmcp-tool',
      'http-custom-header-server-validation:sep-2243-server-decode-base64',
      'http-custom-header-server-validation:sep-2243-server-validate-param-match',
      'http-custom-header-server-validation:sep-2243-server-reject-invalid-param-chars',
      'http-custom-header-server-validation:sep-2243-server-reject-param-mismatch',
    ]),
  },
  '2025-11-25': {
    ...sessions,
    ...subscriptions,
    ...named,
    ...allFor('Requests a tool of the fixtures that asks the client for input.', [
      'tools-call-sampling:tools-call-sampling',
      'tools-call-elicitation:tools-call-elicitation',
      'elicitation-sep1034-defaults:elicitation-sep1034-general',
      'elicitation-sep1330-enums:elicitation-sep1330-general',
    ]),
    ...allFor('The product does not send logs to the client.', alone(['logging-set-level', 'tools-call-with-logging'])),
  },
};
