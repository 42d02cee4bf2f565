/**
 * What a client knows about a change that it requested: the service acknowledged it, the service may have made it (no answer,
 * or an answer of 5xx), or the service did not make it (refused, or never received in full).
 */
export type Acknowledgement = 'acknowledged' | 'unanswered' | 'refused';
