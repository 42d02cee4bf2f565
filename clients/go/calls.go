package latchkey

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
)

// The calls of a client, of which one runs at a time.

func (c *Client) activate(ctx context.Context, typed string) error {
	key, verdict := readKey(typed)
	if verdict == keyMistyped || key == "" {
		return refuse("key_mistyped")
	}
	question := c.session.identity()
	question["license_key"] = key
	given, err := c.session.ask(ctx, licensesPath+"/activate", question)
	if err == nil {
		err = c.acceptActivation(ctx, given, key)
	}
	switch CodeOf(err) {
	case "activation_limit_reached", "move_limit_reached":
		c.wantedKey = key // The user chooses a machine to free.
	case "":
		c.wantedKey = ""
	}
	return err
}

func (c *Client) acceptActivation(ctx context.Context, given answer, key string) error {
	activationID := given.object().text("activation_id")
	if activationID == "" || key == "" {
		return otherForm()
	}
	granted, err := c.session.grant(ctx, given)
	if err != nil {
		return err
	}
	granted.key, granted.activationID, granted.request, granted.trialWanted = key, activationID, nil, false
	granted.cancelRelease(activationID)
	c.session.noteSuccess()
	c.session.change(granted)
	return nil
}

func (c *Client) startTrial(ctx context.Context) error {
	if c.session.state().Kind == Licensed {
		return refuse("already_licensed")
	}
	err := c.askForTrial(ctx)
	if CodeOf(err) == "aborted" {
		return err // The program may end: a trial that waits for the service is started by the next check.
	}
	kept := c.session.kept()
	isWanted := isNoAnswer(err) && kept.key == ""
	if isWanted != kept.trialWanted {
		kept.trialWanted = isWanted
		c.session.change(kept)
	}
	return err
}

func (c *Client) askForTrial(ctx context.Context) error {
	given, err := c.session.ask(ctx, "/api/v1/trial/start", c.session.identity())
	if err != nil {
		return err
	}
	fields := given.object()
	entitlement, hasEntitlement := fields["entitlement"]
	if fields.hasText("activation_id") && hasEntitlement && entitlement == nil {
		c.session.noteSuccess()
		if fields.text("status") == "expired" {
			return refuse("trial_expired")
		}
		return refuse("trial_unavailable")
	}
	return c.acceptActivation(ctx, given, fields.text("license_key"))
}

func (c *Client) check(ctx context.Context, trigger Trigger) error {
	if err := c.releaseMachine(ctx); err != nil {
		return err
	}
	kept, activation := c.session.kept(), c.session.activation()
	if activation == nil && kept.trialWanted {
		return c.startTrial(ctx)
	}
	if activation == nil {
		return c.session.refuseUnactivated()
	}
	question := activation.question()
	question["trigger"] = trigger
	if kept.installID != "" {
		question["install_id"] = kept.installID
	}
	if kept.sharing != nil {
		question["usage_sharing"] = *kept.sharing
	}
	given, err := c.session.ask(ctx, licensesPath+"/validate", question)
	var failure *Error
	if errors.As(err, &failure) && failure.isAboutLicense() {
		return c.acceptRefusal(failure.Code, failure.dateMs)
	}
	if err != nil {
		return err
	}
	return c.acceptValidation(ctx, given)
}

func (c *Client) acceptValidation(ctx context.Context, given answer) error {
	fields := given.object()
	isValid, hasVerdict := fields["valid"].(bool)
	if hasVerdict && !isValid && fields.hasText("reason") {
		return c.acceptRefusal(fields.text("reason"), given.dateMs)
	}
	if !isValid {
		return otherForm()
	}
	granted, err := c.session.grant(ctx, given)
	if err != nil {
		return err
	}
	c.session.noteSuccess()
	c.session.change(granted)
	return nil
}

func (c *Client) acceptRefusal(reason string, dateMs *int64) error {
	ms := c.session.presentMs()
	if dateMs != nil {
		ms = *dateMs
	}
	kept := c.session.kept()
	kept.lastAnswerAt = formatTime(ms)
	kept.refused = &refusal{Reason: reason, At: kept.lastAnswerAt}
	c.session.noteSuccess()
	c.session.change(kept)
	return refuse(reason)
}

func (c *Client) deactivate(ctx context.Context) error {
	activation := c.session.activation()
	if activation == nil {
		return c.session.refuseUnactivated()
	}
	kept := c.session.kept()
	kept.release = activation
	c.session.change(kept)
	return c.releaseMachine(ctx)
}

// releaseMachine frees the machine that waits for it. What the service does not know is free, too.
func (c *Client) releaseMachine(ctx context.Context) error {
	kept := c.session.kept()
	if kept.release == nil {
		return nil
	}
	release := *kept.release
	err := c.free(ctx, release)
	var failure *Error
	if errors.As(err, &failure) && !failure.isAboutLicense() {
		if failure.status != 0 {
			kept.release = nil
			c.session.change(kept)
		}
		return err
	}
	if release.ActivationID == kept.activationID {
		kept = kept.withoutLicense()
	}
	kept.release = nil
	c.session.noteSuccess()
	c.session.change(kept)
	return nil
}

// free deactivates a machine.
func (c *Client) free(ctx context.Context, machine activation) error {
	given, err := c.session.ask(ctx, licensesPath+"/deactivate", machine.question())
	if err != nil {
		return err
	}
	if !given.object().isTrue("success") {
		return otherForm()
	}
	return nil
}

// listMachines returns the key whose machines matter now, and these as the service lists them.
func (c *Client) listMachines(ctx context.Context) (string, []object, error) {
	key := c.wantedKey
	if key == "" {
		key = c.session.kept().key
	}
	if key == "" {
		return "", nil, c.session.refuseUnactivated()
	}
	given, err := c.session.ask(ctx, licensesPath+"/"+url.PathEscape(key)+"/activations", nil)
	if err != nil {
		return "", nil, err
	}
	list, isList := given.body.([]any)
	machines := []object{}
	for _, each := range list {
		machine := toObject(each)
		_, hasActive := machine["is_active"].(bool)
		if !machine.hasText("activation_id") || !machine.hasText("machine_id") || !hasActive {
			return "", nil, otherForm()
		}
		machines = append(machines, machine)
	}
	if !isList {
		return "", nil, otherForm()
	}
	c.session.noteSuccess()
	return key, machines, nil
}

func (c *Client) describeMachine(listed object) Machine {
	kept := c.session.kept()
	return Machine{
		ActivationID: listed.text("activation_id"),
		IsActive:     listed.isTrue("is_active"),
		IsThis: listed.text("activation_id") == kept.activationID ||
			listed.text("machine_id") == kept.machine.machineID(),
		OSVersion:       listed.text("os_version"),
		AppVersion:      listed.text("app_version"),
		ActivatedAt:     listed.text("activated_at"),
		LastValidatedAt: listed.text("last_validated_at"),
	}
}

func (c *Client) moveHere(ctx context.Context, activationID string) error {
	key, machines, err := c.listMachines(ctx)
	if err != nil {
		return err
	}
	for _, machine := range machines {
		if machine.text("activation_id") != activationID {
			continue
		}
		if machine.isTrue("is_active") {
			if err := c.free(ctx, activation{key, activationID, machine.text("machine_id")}); err != nil {
				return err
			}
		}
		return c.activate(ctx, key)
	}
	return refuse("activation_not_found")
}

func (c *Client) activatePurchase(ctx context.Context, transactionID string) error {
	given, err := c.session.ask(ctx, licensesPath+"/check/"+url.PathEscape(transactionID), nil)
	if err != nil {
		return err
	}
	fields := given.object()
	if !fields.hasText("status") {
		return otherForm()
	}
	c.session.noteSuccess()
	for _, each := range append([]any{given.body}, fields.list("licenses")...) {
		if key := toObject(each).text("license_key"); key != "" {
			return c.activate(ctx, key)
		}
	}
	if fields.text("status") == "pending" {
		return refuse("purchase_pending")
	}
	return refuse("key_not_shown")
}

const (
	nonceBytes      = 16
	checkCharacters = 10
)

func (c *Client) offlineRequest(product, name string) (string, error) {
	kept := c.session.kept()
	if kept.request == nil {
		nonce := encodeBase64url(randomBytes(nonceBytes))
		kept.request = &openRequest{Nonce: nonce, CreatedAt: formatTime(c.session.presentMs())}
		c.session.change(kept)
	}
	content, err := json.Marshal(object{
		"product": product, "machine_fingerprint": c.session.fingerprint(), "nonce": kept.request.Nonce, "name": nullable(name),
	})
	if err != nil {
		return "", err
	}
	text := "LKR1." + encodeBase64url(content)
	return text + "." + hashText(text)[:checkCharacters], nil
}

var (
	// Blanks, quotation marks of mail, and characters that are not seen.
	ignoredInAnswer = regexp.MustCompile(`[\s\p{Z}>\x{200B}\x{FEFF}]`)
	// A header begins with {", and a signature has 64 bytes.
	tokenInAnswer = regexp.MustCompile(`eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{86}`)
)

func (c *Client) acceptOffline(text string) error {
	token := tokenInAnswer.FindString(ignoredInAnswer.ReplaceAllString(text, ""))
	kept := c.session.kept()
	verdict, claims := "malformed", (*claims)(nil)
	if token != "" {
		verdict, claims = c.session.verify(token, kept)
	}
	if claims == nil {
		return refuse("entitlement_" + verdict)
	}
	if problem := claims.timeProblem(c.session.presentMs()); problem != "" {
		return refuse("entitlement_" + problem)
	}
	if kept.request == nil || claims.nonce != kept.request.Nonce {
		return refuse("entitlement_nonce")
	}
	if claims.activationID != kept.activationID {
		kept.key = ""
	}
	kept.entitlement, kept.activationID = token, claims.activationID
	kept.refused, kept.request, kept.trialWanted = nil, nil, false
	kept.cancelRelease(claims.activationID)
	c.session.change(kept)
	return nil
}
