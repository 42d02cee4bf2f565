//! What the rules of all clients decide, without a clock, a file or a network: entitlements, typed keys, time, state, answers.
use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL};
use ed25519_dalek::{Signature, VerifyingKey};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Cause, Kind, Response, State, WrongOptions};

/// Returns a field that is a text.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

pub(crate) fn owned(value: &Value, name: &str) -> Option<String> {
    text(value, name).map(str::to_owned)
}

/// Returns a field that is an integer, and exact in clients of all languages.
pub(crate) fn integer(value: &Value, name: &str) -> Option<i64> {
    const MAX: f64 = 9_007_199_254_740_991.0;
    let number = value.get(name)?.as_f64()?;
    #[allow(clippy::cast_possible_truncation)]
    (number.fract() == 0.0 && number.abs() <= MAX).then_some(number as i64)
}

/// Sets a field of an object.
pub(crate) fn set(object: &mut Value, name: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}

/// An Ed25519 key of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    /// Its id.
    pub kid: String,
    /// Its 32 bytes.
    pub x: [u8; 32],
}

impl PublicKey {
    /// Reads the text of `/.well-known/jwks.json`, or of its list `keys`.
    /// # Errors
    /// If the text is damaged, or lists other keys than those of Ed25519.
    pub fn list(json: &str) -> Result<Vec<Self>, WrongOptions> {
        let value: Value = serde_json::from_str(json).unwrap_or_default();
        let list = value.get("keys").unwrap_or(&value);
        let keys = Self::read(list);
        let is_complete = list.as_array().is_some_and(|all| all.len() == keys.len());
        if is_complete { Ok(keys) } else { Err(WrongOptions(vec!["public_keys must list Ed25519 keys"])) }
    }

    /// Returns the Ed25519 keys of a list, and ignores others.
    pub(crate) fn read(list: &Value) -> Vec<Self> {
        let read = |key: &Value| {
            let is_known = text(key, "kty") == Some("OKP") && text(key, "crv") == Some("Ed25519");
            let x = BASE64URL.decode(text(key, "x")?).ok()?.try_into().ok()?;
            is_known.then_some(Self { kid: owned(key, "kid")?, x })
        };
        list.as_array().into_iter().flatten().filter_map(read).collect()
    }

    pub(crate) fn write(&self) -> Value {
        json!({ "kty": "OKP", "crv": "Ed25519", "kid": self.kid, "x": BASE64URL.encode(self.x) })
    }

    /// Verifies as RFC 8032 requires, and refuses keys of small order, which sign everything.
    fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let [first, middle @ .., last] = &self.x;
        let is_above_prime = *first >= 0xed && middle.iter().all(|byte| *byte == 0xff) && last & 0x7f == 0x7f;
        let (Ok(key), Ok(signature)) = (VerifyingKey::from_bytes(&self.x), Signature::from_slice(signature)) else {
            return false;
        };
        !is_above_prime && key.verify_strict(message, &signature).is_ok()
    }
}

/// What an entitlement must fit.
pub(crate) struct Trust<'a> {
    pub(crate) keys: &'a [PublicKey],
    pub(crate) issuer: &'a str,
    pub(crate) products: &'a [String],
    pub(crate) machine_id: &'a str,
}

/// The statements of an entitlement. Times are seconds since 1970.
#[derive(Clone)]
pub(crate) struct Claims {
    pub(crate) iat: i64,
    nbf: i64,
    exp: i64,
    license_expires_at: Option<i64>,
    pub(crate) trial: bool,
    tier: Option<String>,
    features: Vec<String>,
    pub(crate) activation_id: Option<String>,
    pub(crate) nonce: Option<String>,
}

impl Claims {
    fn read(payload: &Value) -> Option<Self> {
        let features = payload.get("features").and_then(Value::as_array).into_iter().flatten();
        Some(Self {
            iat: integer(payload, "iat")?,
            nbf: integer(payload, "nbf")?,
            exp: integer(payload, "exp")?,
            license_expires_at: integer(payload, "license_expires_at"),
            trial: payload.get("trial") == Some(&json!(true)),
            tier: owned(payload, "tier"),
            features: features.filter_map(|each| each.as_str().map(str::to_owned)).collect(),
            activation_id: owned(payload, "activation_id"),
            nonce: owned(payload, "nonce"),
        })
    }

    /// Returns the first problem with the times: `early` or `late`. A clock may be five minutes behind.
    pub(crate) fn time_problem(&self, now_ms: i64) -> Option<&'static str> {
        if now_ms < (self.nbf - 300) * 1000 {
            return Some("early");
        }
        (now_ms >= self.exp * 1000).then_some("late")
    }
}

/// Verifies everything about an entitlement but its times and its nonce, so that the result stays true.
/// The error is the verdict: the first check that fails.
pub(crate) fn read_token(token: &str, trust: &Trust<'_>) -> Result<Claims, &'static str> {
    let (signed, signature) = token.rsplit_once('.').ok_or("malformed")?;
    let (head, body) = signed.split_once('.').ok_or("malformed")?;
    let header = read_part(head).ok_or("malformed")?;
    let payload = read_part(body).ok_or("malformed")?;
    let signature = decode(signature).ok_or("malformed")?;
    let claims = Claims::read(&payload).ok_or("malformed")?;
    let kid = text(&header, "kid").ok_or("malformed")?;
    if text(&header, "typ") != Some("entitlement+jwt") || header.get("crit").is_some() {
        return Err("malformed");
    }
    if text(&header, "alg") != Some("EdDSA") {
        return Err("algorithm");
    }
    let key = trust.keys.iter().find(|key| key.kid == kid).ok_or("unknown_key")?;
    if !key.verifies(signed.as_bytes(), &signature) {
        return Err("signature");
    }
    if text(&payload, "iss") != Some(trust.issuer) {
        return Err("issuer");
    }
    if !text(&payload, "aud").is_some_and(|aud| trust.products.iter().any(|product| product == aud)) {
        return Err("audience");
    }
    if text(&payload, "machine") != Some(&hash(trust.machine_id)) {
        return Err("machine");
    }
    Ok(claims)
}

/// Decodes base64url without padding, in canonical form, so that no two texts have the same bytes.
fn decode(part: &str) -> Option<Vec<u8>> {
    BASE64URL.decode(part).ok().filter(|bytes| !bytes.is_empty())
}

fn read_part(part: &str) -> Option<Value> {
    serde_json::from_slice(&decode(part)?).ok().filter(Value::is_object)
}

/// Returns the base64url SHA-256 of a text.
pub(crate) fn hash(text: &str) -> String {
    BASE64URL.encode(Sha256::digest(text))
}

/// Finds an entitlement in a text that a person pasted: a header begins with `{"`, a signature has 64 bytes.
pub(crate) fn find_token(text: &str) -> Option<String> {
    let is_ignored = |c: char| is_blank(c) || c == '>' || c == '\u{200b}';
    let text: String = text.chars().filter(|c| !is_ignored(*c)).collect();
    let is_symbol = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    text.match_indices("eyJ").find_map(|(start, _)| {
        let mut parts = text.get(start..)?.splitn(3, '.');
        let (head, body, rest) = (parts.next()?, parts.next()?, parts.next()?);
        let signature = rest.get(..86)?;
        let is_token =
            body.starts_with("eyJ") && [head, body, signature].iter().all(|part| part.chars().all(is_symbol));
        is_token.then(|| format!("{head}.{body}.{signature}"))
    })
}

/// Blanks of ECMAScript, which every client removes.
fn is_blank(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// A blank, or a dash of Unicode (category Pd).
fn is_separator(c: char) -> bool {
    const DASHES: &[char] = &[
        '-',
        '\u{58a}',
        '\u{5be}',
        '\u{1400}',
        '\u{1806}',
        '\u{2e17}',
        '\u{2e1a}',
        '\u{2e3a}',
        '\u{2e3b}',
        '\u{2e40}',
        '\u{2e5d}',
        '\u{301c}',
        '\u{3030}',
        '\u{30a0}',
        '\u{fe31}',
        '\u{fe32}',
        '\u{fe58}',
        '\u{fe63}',
        '\u{ff0d}',
        '\u{10ead}',
    ];
    is_blank(c) || ('\u{2010}'..='\u{2015}').contains(&c) || DASHES.contains(&c)
}

/// How a client reads a key that a person typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyVerdict {
    Ok,
    Mistyped,
    /// Perhaps issued elsewhere: it is sent as it is.
    Foreign,
}

/// Crockford's base 32.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Reads a key that a person typed or pasted: case, blanks and kinds of dashes do not matter, O is read as 0, I and L as 1.
pub(crate) fn read_key(typed: &str) -> (KeyVerdict, String) {
    let typed = typed.trim_matches(is_blank);
    let parts: Vec<&str> = typed.split(is_separator).filter(|part| !part.is_empty()).collect();
    let joined = parts.concat();
    let foreign = || (KeyVerdict::Foreign, typed.to_owned());
    if !joined.bytes().all(|c| c.is_ascii_alphanumeric()) || !(25..=33).contains(&joined.len()) {
        return foreign();
    }
    let (prefix, symbols) = joined.split_at(joined.len() - 25);
    let Some(values) = symbols.bytes().map(read_symbol).collect::<Option<Vec<usize>>>() else { return foreign() };
    let is_right = has_right_checksum(&values);
    let is_separated = !prefix.is_empty() && parts.first() == Some(&prefix);
    if !is_right && !is_separated {
        return foreign();
    }
    let canonical: String = values.iter().filter_map(|value| ALPHABET.get(*value)).map(|c| char::from(*c)).collect();
    let groups = canonical.as_bytes().chunks(5).map(|group| String::from_utf8_lossy(group).into_owned());
    let prefix = Some(prefix.to_ascii_uppercase()).filter(|each| !each.is_empty());
    let key = prefix.into_iter().chain(groups).collect::<Vec<_>>().join("-");
    (if is_right { KeyVerdict::Ok } else { KeyVerdict::Mistyped }, key)
}

fn read_symbol(symbol: u8) -> Option<usize> {
    let symbol = match symbol.to_ascii_uppercase() {
        b'O' => b'0',
        b'I' | b'L' => b'1',
        other => other,
    };
    ALPHABET.iter().position(|each| *each == symbol)
}

/// The last two symbols are the number of the others modulo 1021.
fn has_right_checksum(values: &[usize]) -> bool {
    let (number, check) = values.split_at(values.len().saturating_sub(2));
    let remainder = number.iter().fold(0, |sum, value| (sum * 32 + value) % 1021);
    check.iter().fold(0, |sum, value| sum * 32 + value) == remainder
}

/// What is known of the time of the service, in milliseconds.
#[derive(Clone, Copy, Default)]
pub(crate) struct Clock {
    /// The time of the service less that of the device; 0 if they differ by less than five minutes.
    offset_ms: i64,
    /// The latest time of the service that was seen.
    latest_ms: i64,
}

impl Clock {
    pub(crate) fn of(kept: &Value) -> Self {
        let part = |name| kept.get("clock").and_then(|clock| integer(clock, name)).unwrap_or(0);
        Self { offset_ms: part("offset_ms"), latest_ms: part("latest_ms") }
    }

    pub(crate) fn write(self) -> Value {
        json!({ "offset_ms": self.offset_ms, "latest_ms": self.latest_ms })
    }

    /// Returns the time, and whether the clock of the device was set back.
    pub(crate) fn read(self, device_ms: i64) -> (i64, bool) {
        let corrected_ms = device_ms.saturating_add(self.offset_ms);
        (corrected_ms.max(self.latest_ms), corrected_ms < self.latest_ms - 3_600_000)
    }

    /// Adds what a run learnt before the clock of the file could be read.
    pub(crate) fn join(self, run: Self) -> Self {
        let offset_ms = if run.latest_ms > 0 { run.offset_ms } else { self.offset_ms };
        Self { offset_ms, latest_ms: self.latest_ms.max(run.latest_ms) }
    }

    pub(crate) fn learn(self, device_ms: i64, service_ms: i64) -> Self {
        let difference_ms = service_ms.saturating_sub(device_ms);
        let offset_ms = if difference_ms.saturating_abs() < 300_000 { 0 } else { difference_ms };
        Self { offset_ms, latest_ms: self.latest_ms.max(service_ms) }
    }
}

/// Returns the time of the service in an answer with a genuine entitlement: its header `Date` if that fits the time at which the
/// entitlement was issued, else that one. No signature protects `Date`.
pub(crate) fn service_time(date_ms: Option<i64>, issued_ms: i64) -> i64 {
    date_ms.filter(|date| (0..=3_900_000).contains(&date.saturating_sub(issued_ms))).unwrap_or(issued_ms)
}

/// What a state is derived from.
pub(crate) struct Facts<'a> {
    pub(crate) kept: &'a Value,
    /// Those of the kept entitlement if it is genuine.
    pub(crate) claims: Option<&'a Claims>,
    pub(crate) is_answered: bool,
    pub(crate) device_ms: i64,
}

const DAY_MS: i64 = 86_400_000;

/// Derives the state.
pub(crate) fn derive_state(facts: &Facts<'_>) -> State {
    let Facts { kept, claims, is_answered, device_ms } = *facts;
    let (now_ms, clock_went_back) = Clock::of(kept).read(device_ms);
    let last_answer_at = owned(kept, "last_answer_at");
    let none = |kind, reason: &str| State {
        may_run: false,
        kind,
        reason: Some(reason.to_owned()),
        tier: None,
        features: Vec::new(),
        until: None,
        days_left: None,
        is_answered,
        last_answer_at: last_answer_at.clone(),
        clock_went_back,
    };
    if text(kept, "key").or(text(kept, "entitlement")).is_none() {
        return none(Kind::None, "not_activated");
    }
    if let Some(reason) = kept.get("refused").and_then(|refused| text(refused, "reason")) {
        return none(Kind::Refused, reason);
    }
    let problem = claims.and_then(|claims| claims.time_problem(now_ms));
    let Some(claims) = claims.filter(|_| problem != Some("early")) else {
        return none(Kind::None, "entitlement_invalid");
    };
    let end_ms = claims.exp * 1000;
    let left_ms = (end_ms - now_ms).max(0);
    let terms = State {
        tier: claims.tier.clone(),
        until: Some(format_time(end_ms)),
        days_left: Some(left_ms / DAY_MS + i64::from(left_ms % DAY_MS > 0)),
        ..none(Kind::Ended, "entitlement_expired")
    };
    if problem.is_none() {
        let kind = if claims.trial { Kind::Trial } else { Kind::Licensed };
        return State { may_run: true, kind, reason: None, features: claims.features.clone(), ..terms };
    }
    match claims.license_expires_at {
        Some(end) if end * 1000 <= now_ms => State { reason: Some("license_expired".to_owned()), ..terms },
        _ => terms,
    }
}

/// No answer of the service, whatever arrived.
pub(crate) struct NoResponse {
    pub(crate) cause: Cause,
    pub(crate) detail: String,
    /// The status of what arrived; 0 if nothing did.
    pub(crate) status: u16,
    /// Whether the service lists the faults of a request that does not match its schema, which has no code.
    pub(crate) lists_faults: bool,
    pub(crate) retry_after: Duration,
}

impl NoResponse {
    pub(crate) fn new(cause: Cause, detail: impl Into<String>, status: u16) -> Self {
        Self { cause, detail: detail.into(), status, lists_faults: false, retry_after: Duration::ZERO }
    }

    pub(crate) fn unexpected_shape() -> Self {
        Self::new(Cause::Portal, "JSON of another shape", 200)
    }
}

/// An answer of the service; with a code, it is a refusal.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) code: Option<String>,
    pub(crate) body: Value,
    /// Its header `Date`.
    pub(crate) date_ms: Option<i64>,
}

impl Reply {
    /// Whether a refusal is about the license, and not about the path, or of something between.
    pub(crate) fn is_about_license(&self) -> bool {
        let code = self.code.as_deref().unwrap_or_default();
        let prefixes = ["license_", "activation_", "machine_", "trial_"];
        [403, 404].contains(&self.status) && prefixes.iter().any(|prefix| code.starts_with(prefix))
    }
}

/// Decides what arrived: only JSON of the service's own forms is an answer.
pub(crate) fn classify(response: &Response) -> Result<Reply, NoResponse> {
    let status = response.status;
    if status == 429 || status >= 500 {
        let retry_after = read_retry_after(response.retry_after.as_deref().unwrap_or_default());
        return Err(NoResponse { retry_after, ..NoResponse::new(Cause::Busy, format!("status {status}"), status) });
    }
    if status == 407 {
        return Err(NoResponse::new(Cause::Proxy, "status 407", status));
    }
    let date_ms = response.date.as_deref().and_then(parse_date);
    let body: Option<Value> = serde_json::from_slice(&response.body).ok();
    let code = body.as_ref().and_then(|body| owned(body, "code"));
    match body {
        Some(body) if status == 200 => Ok(Reply { status, code: None, body, date_ms }),
        Some(body) if code.is_some() && status >= 400 && is_problem(response, &body) => {
            Ok(Reply { status, code, body, date_ms })
        }
        body => {
            let lists_faults = status == 422 && body.as_ref().is_some_and(has_faults);
            let detail = format!("status {status}, not an answer of the service");
            Err(NoResponse { lists_faults, ..NoResponse::new(Cause::Portal, detail, status) })
        }
    }
}

/// Whether a body lists the faults of a request that does not match its schema, which has no code.
fn has_faults(body: &Value) -> bool {
    let faults = body.get("detail").and_then(Value::as_array);
    faults.is_some_and(|faults| faults.iter().any(|fault| fault.get("loc").is_some_and(Value::is_array)))
}

fn is_problem(response: &Response, body: &Value) -> bool {
    let content_type = response.content_type.as_deref().unwrap_or_default().to_ascii_lowercase();
    content_type.split(';').next().map(str::trim) == Some("application/problem+json")
        || integer(body, "status") == Some(response.status.into())
}

/// Reads seconds; the service sends no date. One that asks for more than a day is believed for a day.
fn read_retry_after(text: &str) -> Duration {
    Duration::from_secs(text.parse::<u32>().unwrap_or(0).min(86_400).into())
}

/// Reads a machine id (machine-id(5)): 32 hexadecimal digits, not all zero.
pub(crate) fn read_machine_id_file(content: &str) -> Option<String> {
    let id = content.trim().to_ascii_lowercase();
    let is_id = id.len() == 32 && id.bytes().all(|c| c.is_ascii_hexdigit()) && id.bytes().any(|c| c != b'0');
    is_id.then_some(id)
}

/// Reads the serial number of a board (DMI); none for what vendors write instead of one.
pub(crate) fn read_board_serial(content: &str) -> Option<String> {
    const PLACEHOLDERS: &[&str] = &[
        "default string",
        "to be filled by o.e.m.",
        "to be filled by o.e.m",
        "not specified",
        "not applicable",
        "not available",
        "none",
        "n/a",
        "system serial number",
        "board serial number",
    ];
    let serial = content.trim();
    let lower = serial.to_ascii_lowercase();
    let is_filler = ["0", "x", "-. "].iter().any(|filler| lower.chars().all(|c| filler.contains(c)));
    (!is_filler && !PLACEHOLDERS.contains(&lower.as_str())).then(|| serial.to_owned())
}

/// Reads what `reg.exe query` prints, in any language of Windows.
pub(crate) fn read_registry_output(output: &str) -> Option<String> {
    output.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let is_value = words.next() == Some("MachineGuid") && words.next() == Some("REG_SZ");
        let guid = words.next().filter(|_| is_value)?;
        words.next().is_none().then(|| guid.to_owned())
    })
}

/// Reads what `ioreg` prints.
pub(crate) fn read_ioreg_output(output: &str) -> Option<String> {
    let (_, rest) = output.split_once("\"IOPlatformUUID\" = \"")?;
    let (uuid, _) = rest.split_once('"')?;
    (!uuid.is_empty() && uuid.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-')).then(|| uuid.to_owned())
}

/// Formats a time in RFC 3339, in UTC.
pub(crate) fn format_time(ms: i64) -> String {
    // The last time of ECMAScript.
    let ms = ms.clamp(-8_640_000_000_000_000, 8_640_000_000_000_000);
    let (days, in_day) = (ms.div_euclid(DAY_MS), ms.rem_euclid(DAY_MS));
    // Days from the civil calendar, by Howard Hinnant: years begin in March, eras have 400 years.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute) = (in_day / 3_600_000, in_day / 60_000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}.{:03}Z", in_day / 1000 % 60, in_day % 1000)
}

/// Parses a time as [`format_time`] writes it.
pub(crate) fn parse_time(text: &str) -> Option<i64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut date = date.splitn(3, '-').map(str::parse);
    let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let fraction_ms: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    Some(civil_ms(year, month, day, clock)? + fraction_ms)
}

/// Parses the header `Date` (RFC 9110): `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) fn parse_date(text: &str) -> Option<i64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let words: Vec<&str> = text.split_whitespace().collect();
    let [_, day, month, year, clock, "GMT"] = words.as_slice() else { return None };
    let month = MONTHS.find(month).filter(|at| month.len() == 3 && at % 3 == 0)? / 3 + 1;
    civil_ms(year.parse().ok()?, i64::try_from(month).ok()?, day.parse().ok()?, clock)
}

fn civil_ms(year: i64, month: i64, day: i64, clock: &str) -> Option<i64> {
    let mut clock = clock.splitn(3, ':').map(str::parse::<i64>);
    let (hour, minute, second) = (clock.next()?.ok()?, clock.next()?.ok()?, clock.next()?.ok()?);
    let is_date = (0..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    let is_time = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..=60).contains(&second);
    let year = year - i64::from(month <= 2);
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    (is_date && is_time).then_some(days * DAY_MS + (hour * 3600 + minute * 60 + second) * 1000)
}
