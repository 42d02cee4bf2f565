import { AUDIENCE_SOURCES, forEachLanguage, LANGUAGES, LICENSE_STATUSES } from '@latchkey/contract';
import { Type } from 'typebox';

const StoredText = Type.Object({
  subject: Type.String(),
  preview: Type.String(),
  text: Type.String(),
});

/** The texts of a campaign as they are stored. */
export const CampaignTexts = Type.Object(forEachLanguage(() => Type.Optional(StoredText)));

/** The choice of recipients as it is stored. */
export const StoredAudience = Type.Object({
  source: Type.Enum(AUDIENCE_SOURCES),
  languages: Type.Array(Type.Enum(LANGUAGES)),
  products: Type.Array(Type.String()),
  statuses: Type.Array(Type.Enum(LICENSE_STATUSES)),
});
