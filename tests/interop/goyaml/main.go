// Reads YAML as Kubernetes, its tools and the GitOps engines do, and tells what it found with types.
//
// A JSON list of texts comes on standard input; for each a list comes back: what go.yaml.in/yaml/v2,
// go.yaml.in/yaml/v3 and sigs.k8s.io/yaml make of it. The form is that of yaml_probe.cpp; an error
// is ["error", TEXT]. sigs.k8s.io/yaml goes through JSON, so that its numbers are ["number", TEXT].
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	yaml2 "go.yaml.in/yaml/v2"
	yaml3 "go.yaml.in/yaml/v3"
	k8s "sigs.k8s.io/yaml"
)

func typed(value any) any {
	switch v := value.(type) {
	case nil:
		return []any{"n"}
	case bool:
		return []any{"b", v}
	case int:
		return []any{"i", strconv.Itoa(v)}
	case int64:
		return []any{"i", strconv.FormatInt(v, 10)}
	case uint64:
		return []any{"i", strconv.FormatUint(v, 10)}
	case float64:
		return []any{"f", strconv.FormatFloat(v, 'g', -1, 64)}
	case json.Number:
		return []any{"number", v.String()}
	case string:
		return []any{"s", v}
	case time.Time:
		return []any{"time", v.String()}
	case []any:
		items := []any{}
		for _, item := range v {
			items = append(items, typed(item))
		}
		return []any{"l", items}
	case map[string]any:
		entries := []any{}
		for key, item := range v {
			entries = append(entries, []any{typed(key), typed(item)})
		}
		return []any{"m", entries}
	case map[any]any:
		entries := []any{}
		for key, item := range v {
			entries = append(entries, []any{typed(key), typed(item)})
		}
		return []any{"m", entries}
	}
	return []any{"unknown", fmt.Sprintf("%T", value)}
}

func result(value any, err error) any {
	if err != nil {
		return []any{"error", err.Error()}
	}
	return typed(value)
}

func viaJSON(text string) (any, error) {
	var value any
	data, err := k8s.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

func main() {
	var texts []string
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		fmt.Fprintln(os.Stderr, "goyaml:", err)
		os.Exit(1)
	}
	answers := []any{}
	for _, text := range texts {
		var two, three any
		err2 := yaml2.UnmarshalStrict([]byte(text), &two)
		err3 := yaml3.Unmarshal([]byte(text), &three)
		viaK8s, errK8s := viaJSON(text)
		answers = append(answers,
			[]any{result(two, err2), result(three, err3), result(viaK8s, errK8s)})
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(answers); err != nil {
		fmt.Fprintln(os.Stderr, "goyaml:", err)
		os.Exit(1)
	}
}
