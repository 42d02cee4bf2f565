/** The operator interface: method, path and documented statuses of each operation, one on each line. */
export const adminOperations: readonly (readonly [string, string, string])[] = `
  POST /api/v1/admin/session 200 401 403 409 413 415 422 429 500 503
  GET /api/v1/admin/session 200 401 403 500 503
  POST /api/v1/admin/session/link 200 401 403 413 415 422 429 500 503
  POST /api/v1/admin/session/redeem 200 401 403 409 413 415 422 429 500 503
  POST /api/v1/admin/session/provider/begin 200 403 409 413 415 422 500 503
  POST /api/v1/admin/session/provider/prove 200 401 403 409 413 415 422 500 503
  POST /api/v1/admin/session/proxy 200 401 403 500 503
  POST /api/v1/admin/session/proxy/prove 200 401 403 500 503
  POST /api/v1/admin/session/prove 200 401 403 409 413 415 422 429 500 503
  POST /api/v1/admin/session/sign-out 200 401 403 404 500 503
  GET /api/v1/admin/overview 200 401 403 500 503
  GET /api/v1/admin/customer 200 401 403 422 500 503
  GET /api/v1/admin/customer/payments 200 401 403 422 500 503
  POST /api/v1/admin/customer/export 200 401 403 413 415 422 500 503
  POST /api/v1/admin/customer/plan-erasure 200 401 403 413 415 422 500 503
  POST /api/v1/admin/customer/erase 200 401 403 413 415 422 500 503
  GET /api/v1/admin/installs/{id} 200 400 401 403 414 422 500 503
  GET /api/v1/admin/installs/{id}/events 200 400 401 403 414 422 500 503
  GET /api/v1/admin/installs/{id}/events/export 200 400 401 403 414 422 500 503
  POST /api/v1/admin/installs/{id}/export 200 400 401 403 413 414 415 422 500 503
  POST /api/v1/admin/installs/{id}/erase 200 400 401 403 413 414 415 422 500 503
  GET /api/v1/admin/machine 200 401 403 422 500 503
  POST /api/v1/admin/machine/erase 200 401 403 413 415 422 500 503
  GET /api/v1/admin/trials 200 401 403 422 500 503
  GET /api/v1/admin/trials/export 200 401 403 422 500 503
  GET /api/v1/admin/trials/report 200 401 403 422 500 503
  GET /api/v1/admin/trials/report/export 200 401 403 422 500 503
  GET /api/v1/admin/search 200 401 403 422 500 503
  GET /api/v1/admin/sessions 200 401 403 500 503
  POST /api/v1/admin/sessions/revoke-others 200 401 403 500 503
  POST /api/v1/admin/sessions/{id}/revoke 200 400 401 403 404 414 422 500 503
  POST /api/v1/admin/session/password 200 401 403 409 413 415 422 500 503
  POST /api/v1/admin/session/totp 200 401 403 409 500 503
  POST /api/v1/admin/session/totp/enable 200 401 403 409 413 415 422 500 503
  POST /api/v1/admin/session/totp/disable 200 401 403 500 503
  GET /api/v1/admin/session/methods 200 403 500 503
  POST /api/v1/admin/session/passkey 200 401 403 409 413 415 422 429 500 503
  POST /api/v1/admin/session/passkey/begin 200 403 409 500 503
  POST /api/v1/admin/session/passkey/prove 200 401 403 409 413 415 422 429 500 503
  GET /api/v1/admin/session/passkeys 200 401 403 500 503
  POST /api/v1/admin/session/passkeys 200 401 403 409 413 415 422 500 503
  POST /api/v1/admin/session/passkeys/begin 200 401 403 409 500 503
  POST /api/v1/admin/session/passkeys/{id}/remove 200 400 401 403 404 414 422 500 503
  POST /api/v1/admin/session/recovery-codes 200 401 403 409 500 503
  GET /api/v1/admin/api-keys 200 401 403 422 500 503
  POST /api/v1/admin/api-keys 200 401 403 409 413 415 422 500 503
  GET /api/v1/admin/api-keys/export 200 401 403 422 500 503
  POST /api/v1/admin/api-keys/{id}/roll 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/api-keys/{id}/revoke 200 400 401 403 404 413 414 415 422 500 503
  GET /api/v1/admin/signing-keys 200 401 403 500 503
  GET /api/v1/admin/signing-keys/export 200 401 403 500 503
  POST /api/v1/admin/signing-keys/rotate 200 401 403 413 415 422 500 503
  POST /api/v1/admin/signing-keys/{kid}/revoke 200 400 401 403 404 409 413 414 415 422 500 503
  GET /api/v1/admin/audit 200 401 403 422 500 503
  GET /api/v1/admin/audit/export 200 401 403 422 500 503
  GET /api/v1/admin/audit/chain 200 401 403 500 503
  POST /api/v1/admin/audit/verify 200 401 403 413 415 422 500 503
  GET /api/v1/admin/operators 200 401 403 422 500 503
  POST /api/v1/admin/operators 200 401 403 409 413 415 422 500 503
  GET /api/v1/admin/operators/export 200 401 403 422 500 503
  GET /api/v1/admin/operators/{id} 200 400 401 403 404 414 422 500 503
  POST /api/v1/admin/operators/{id}/role 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/operators/{id}/disable 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/operators/{id}/enable 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/operators/{id}/reset 200 400 401 403 404 409 413 414 415 422 500 503
  GET /api/v1/admin/operators/{id}/sessions 200 400 401 403 404 414 422 500 503
  GET /api/v1/admin/operators/{id}/sessions/export 200 400 401 403 404 414 422 500 503
  POST /api/v1/admin/operators/{id}/sessions/revoke 200 400 401 403 414 422 500 503
  POST /api/v1/admin/operators/{id}/sessions/{session_id}/revoke 200 400 401 403 404 414 422 500 503
  GET /api/v1/admin/licenses 200 401 403 422 500 503
  POST /api/v1/admin/licenses 200 401 403 413 415 422 500 503
  POST /api/v1/admin/licenses/batch 200 401 403 413 415 422 500 503
  GET /api/v1/admin/licenses/export 200 401 403 422 500 503
  GET /api/v1/admin/licenses/export-with-keys 200 401 403 422 500 503
  GET /api/v1/admin/licenses/export-activations 200 401 403 422 500 503
  POST /api/v1/admin/licenses/import 200 401 403 413 415 422 500 503
  GET /api/v1/admin/key-pools 200 401 403 500 503
  POST /api/v1/admin/key-pools/add 200 401 403 413 415 422 500 503
  POST /api/v1/admin/key-pools/remove 200 401 403 413 415 422 500 503
  GET /api/v1/admin/licenses/{id} 200 400 401 403 404 414 422 500 503
  GET /api/v1/admin/licenses/{id}/timeline 200 400 401 403 404 414 422 500 503
  GET /api/v1/admin/licenses/{id}/timeline/export 200 400 401 403 404 414 422 500 503
  POST /api/v1/admin/licenses/{id}/reveal 200 400 401 403 404 413 414 415 422 500 503
  POST /api/v1/admin/licenses/{id}/resend 200 400 401 403 404 413 414 415 422 500 503
  POST /api/v1/admin/licenses/{id}/machines/{activation_id}/free 200 400 401 403 404 413 414 415 422 500 503
  POST /api/v1/admin/licenses/{id}/suspend 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/licenses/{id}/reinstate 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/licenses/{id}/revoke 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/licenses/{id}/extend 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/licenses/{id}/change-updates 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/licenses/{id}/change-limit 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/licenses/{id}/change-owner 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/licenses/{id}/allow-moves 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/licenses/{id}/rekey 200 400 401 403 404 409 413 414 415 422 500 503
  GET /api/v1/admin/outreach/start 200 401 403 500 503
  GET /api/v1/admin/outreach/preview-frame 200 401 403 500 503
  POST /api/v1/admin/outreach/preview 200 401 403 413 415 422 500 503
  POST /api/v1/admin/outreach/dry-run 200 401 403 413 415 422 500 503
  POST /api/v1/admin/outreach/dry-run/export 200 401 403 413 415 422 500 503
  POST /api/v1/admin/outreach/test-mail 200 401 403 409 413 415 422 500 503
  GET /api/v1/admin/outreach/campaigns 200 401 403 422 500 503
  GET /api/v1/admin/outreach/campaigns/export 200 401 403 422 500 503
  POST /api/v1/admin/outreach/campaigns 200 401 403 413 415 422 500 503
  GET /api/v1/admin/outreach/campaigns/{id} 200 400 401 403 404 414 422 500 503
  POST /api/v1/admin/outreach/campaigns/{id}/update 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/outreach/campaigns/{id}/duplicate 200 400 401 403 404 414 422 500 503
  POST /api/v1/admin/outreach/campaigns/{id}/delete 200 400 401 403 404 409 414 422 500 503
  POST /api/v1/admin/outreach/campaigns/{id}/send 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/outreach/campaigns/{id}/pause 200 400 401 403 404 409 414 422 500 503
  POST /api/v1/admin/outreach/campaigns/{id}/resume 200 400 401 403 404 409 414 422 500 503
  POST /api/v1/admin/outreach/campaigns/{id}/cancel 200 400 401 403 404 409 413 414 415 422 500 503
  GET /api/v1/admin/outreach/campaigns/{id}/report 200 400 401 403 404 414 422 500 503
  GET /api/v1/admin/outreach/campaigns/{id}/messages 200 400 401 403 404 414 422 500 503
  GET /api/v1/admin/outreach/campaigns/{id}/messages/export 200 400 401 403 404 414 422 500 503
  GET /api/v1/admin/subscribers 200 401 403 422 500 503
  GET /api/v1/admin/subscribers/export 200 401 403 422 500 503
  GET /api/v1/admin/subscribers/{id} 200 400 401 403 404 414 422 500 503
  POST /api/v1/admin/subscribers/{id}/resend-confirmation 200 400 401 403 404 409 413 414 415 422 429 500 503
  POST /api/v1/admin/subscribers/{id}/unsubscribe 200 400 401 403 404 413 414 415 422 500 503
  POST /api/v1/admin/subscribers/{id}/erase 200 400 401 403 404 413 414 415 422 500 503
  GET /api/v1/admin/suppressions 200 401 403 422 500 503
  POST /api/v1/admin/suppressions 200 401 403 413 415 422 500 503
  GET /api/v1/admin/suppressions/export 200 401 403 422 500 503
  POST /api/v1/admin/suppressions/remove 200 401 403 404 413 415 422 500 503
  GET /api/v1/admin/payment-events 200 401 403 422 500 503
  GET /api/v1/admin/payment-events/export 200 401 403 422 500 503
  GET /api/v1/admin/payment-events/summary 200 401 403 500 503
  GET /api/v1/admin/payment-events/{provider}/{event_id} 200 400 401 403 404 414 422 500 503
  POST /api/v1/admin/payment-events/{provider}/{event_id}/reveal 200 400 401 403 404 414 422 500 503
  POST /api/v1/admin/payment-events/{provider}/{event_id}/replay 200 400 401 403 404 413 414 415 422 500 503
  POST /api/v1/admin/payment-events/{provider}/{event_id}/dismiss 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/payment-events/{provider}/{event_id}/repair 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/payment-events/replay 200 401 403 413 415 422 500 503
  POST /api/v1/admin/payment-events/dismiss 200 401 403 413 415 422 500 503
  POST /api/v1/admin/payment-events/delete-test-data 200 401 403 413 415 422 500 503
  GET /api/v1/admin/revenue 200 401 403 422 500 503
  GET /api/v1/admin/revenue/export 200 401 403 422 500 503
  POST /api/v1/admin/payment-events/reconcile 200 401 403 413 415 422 500 503
  GET /api/v1/admin/usage 200 401 403 422 500 503
  GET /api/v1/admin/usage/export 200 401 403 422 500 503
  GET /api/v1/admin/usage/breakdown 200 401 403 422 500 503
  GET /api/v1/admin/usage/breakdown/export 200 401 403 422 500 503
  GET /api/v1/admin/usage/retention 200 401 403 422 500 503
  GET /api/v1/admin/usage/retention/export 200 401 403 422 500 503
  GET /api/v1/admin/events 200 401 403 422 500 503
  GET /api/v1/admin/events/days 200 401 403 422 500 503
  GET /api/v1/admin/events/breakdown 200 401 403 422 500 503
  GET /api/v1/admin/events/drops 200 401 403 422 500 503
  GET /api/v1/admin/events/drops/export 200 401 403 422 500 503
  GET /api/v1/admin/events/stored/{event_id} 200 400 401 403 404 414 422 500 503
  GET /api/v1/admin/events/export 200 401 403 422 500 503
  GET /api/v1/admin/events/days/export 200 401 403 422 500 503
  GET /api/v1/admin/events/breakdown/export 200 401 403 422 500 503
  GET /api/v1/admin/webhook-endpoints 200 401 403 422 500 503
  GET /api/v1/admin/webhook-endpoints/export 200 401 403 422 500 503
  POST /api/v1/admin/webhook-endpoints 200 401 403 409 413 415 422 500 503
  GET /api/v1/admin/webhook-endpoints/{id} 200 400 401 403 404 414 422 500 503
  POST /api/v1/admin/webhook-endpoints/{id}/update 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/webhook-endpoints/{id}/disable 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/webhook-endpoints/{id}/enable 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/webhook-endpoints/{id}/remove 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/webhook-endpoints/{id}/test 200 400 401 403 404 414 422 500 503
  POST /api/v1/admin/webhook-endpoints/{id}/roll 200 400 401 403 404 409 413 414 415 422 500 503
  GET /api/v1/admin/webhook-deliveries 200 401 403 422 500 503
  GET /api/v1/admin/webhook-deliveries/export 200 401 403 422 500 503
  GET /api/v1/admin/webhook-deliveries/{message_id}/{endpoint_id} 200 400 401 403 404 414 422 500 503
  POST /api/v1/admin/webhook-deliveries/{message_id}/{endpoint_id}/replay 200 400 401 403 404 413 414 415 422 500 503
  POST /api/v1/admin/webhook-deliveries/replay 200 401 403 404 413 415 422 500 503
  GET /api/v1/admin/fleet-servers 200 401 403 500 503
  GET /api/v1/admin/fleet-servers/export 200 401 403 500 503
  POST /api/v1/admin/fleet-servers 200 401 403 409 413 415 422 500 503
  POST /api/v1/admin/fleet-servers/import 200 401 403 409 413 415 422 500 503
  POST /api/v1/admin/fleet-servers/{id}/update 200 400 401 403 404 409 413 414 415 422 500 503
  POST /api/v1/admin/fleet-servers/{id}/remove 200 400 401 403 404 409 413 414 415 422 500 503
  GET /api/v1/admin/catalog 200 401 403 500 503
  GET /api/v1/admin/settings 200 401 403 500 503
  POST /api/v1/admin/doctor 200 401 403 500 503
  GET /api/v1/admin/health 200 401 403 500 503
  GET /api/v1/admin/jobs 200 401 403 422 500 503
  GET /api/v1/admin/jobs/export 200 401 403 422 500 503
  GET /api/v1/admin/tasks 200 401 403 500 503
  GET /api/v1/admin/tasks/export 200 401 403 500 503
  POST /api/v1/admin/jobs/{id}/retry 200 400 401 403 409 413 414 415 422 500 503
  POST /api/v1/admin/jobs/retry-failed 200 401 403 413 415 422 500 503
  GET /api/v1/admin/mails 200 401 403 422 500 503
  GET /api/v1/admin/mails/export 200 401 403 422 500 503
  GET /api/v1/admin/mails/{id} 200 400 401 403 404 414 422 500 503
  POST /api/v1/admin/mails/{id}/resend 200 400 401 403 404 409 413 414 415 422 429 500 503
  POST /api/v1/admin/mails/resend 200 401 403 413 415 422 500 503
  POST /api/v1/admin/mail-relay/check 200 401 403 500 503
  GET /api/v1/admin/mail-templates 200 401 403 500 503
  GET /api/v1/admin/mail-templates/{name} 200 400 401 403 404 414 422 500 503
  GET /api/v1/admin/mail-templates/{name}/html 200 400 401 403 404 414 422 500 503
`
  .trim()
  .split('\n')
  .map((line) => {
    const [method = '', path = '', ...statuses] = line.trim().split(' ');
    return [method, path, statuses.join(' ')];
  });
