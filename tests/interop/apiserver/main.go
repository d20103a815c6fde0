// Says what a Kubernetes API server does with documents of custom resources, by the server's own
// packages in its own order: unknown fields are found and dropped, nulls too, metadata is decoded,
// defaults are filled in, then everything is validated. One request a line on standard input, one
// answer a line on standard output, both JSON.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"reflect"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// Request names a CRD of a file and a document of that kind, as YAML. Without a kind it asks for
// the CRDs of the file.
type Request struct {
	File    string `json:"file"`
	Kind    string `json:"kind"`
	Version string `json:"version"`
	Text    string `json:"text"`
}

// Finding is one error of the server.
type Finding struct {
	Path   string `json:"path"`
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
	Stage  string `json:"stage"`
}

// Answer is what the server makes of the document.
type Answer struct {
	Crd      []Finding              `json:"crd"`      // why the server refuses the CRD itself
	Refused  string                 `json:"refused"`  // why the document cannot even be decoded
	Unknown  []string               `json:"unknown"`  // paths of fields that are dropped
	Document map[string]interface{} `json:"document"` // as stored
	// Whether the document had anything filled in.
	Defaulted bool      `json:"defaulted"`
	Errors    []Finding `json:"errors"`
	// The server looks at no rule when errors of certain kinds stand before.
	RulesSkipped bool `json:"rulesSkipped"`
}

// Listed is a version of a CRD.
type Listed struct {
	Group   string              `json:"group"`
	Kind    string              `json:"kind"`
	Version string              `json:"version"`
	Schema  *v1.JSONSchemaProps `json:"schema"`
}

// served is a version of a CRD as the server prepares it.
type served struct {
	problems   []Finding
	namespaced bool
	structural *schema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator
}

var scheme = runtime.NewScheme()

func findings(stage string, errors field.ErrorList) []Finding {
	found := []Finding{}
	for _, err := range errors {
		found = append(found, Finding{err.Field, string(err.Type), err.Detail, stage})
	}
	return found
}

// prepare does what crdHandler.getOrCreateServingInfoFor does.
func prepare(crd *v1.CustomResourceDefinition, version string) (*served, error) {
	crd = crd.DeepCopy()
	// What the server fills in when a CRD is created.
	scheme.Default(crd)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := scheme.Convert(crd, internal, nil); err != nil {
		return nil, err
	}
	out := &served{namespaced: crd.Spec.Scope == v1.NamespaceScoped}
	for _, finding := range findings("crd", crdvalidation.ValidateCustomResourceDefinition(context.Background(), internal)) {
		if strings.Contains(finding.Path, "openAPIV3Schema") {
			out.problems = append(out.problems, finding)
		}
	}
	for _, v := range crd.Spec.Versions {
		if v.Name != version || v.Schema == nil {
			continue
		}
		converted := &apiextensions.CustomResourceValidation{}
		if err := v1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(v.Schema, converted, nil); err != nil {
			return nil, err
		}
		structural, err := schema.NewStructural(converted.OpenAPIV3Schema)
		if err != nil {
			out.problems = append(out.problems, Finding{"", "", err.Error(), "crd"})
			return out, nil
		}
		if len(out.problems) != 0 {
			return out, nil
		}
		out.structural = structural.DeepCopy()
		if err := defaulting.PruneDefaults(out.structural); err != nil {
			return nil, err
		}
		if out.validator, _, err = validation.NewSchemaValidator(converted.OpenAPIV3Schema); err != nil {
			return nil, err
		}
		out.rules = cel.NewValidator(out.structural, true, celconfig.PerCallLimit)
		return out, nil
	}
	return nil, fmt.Errorf("no version %s", version)
}

// decode is the work of unstructuredSchemaCoercer.apply, then of the defaulter.
func decode(s *served, document map[string]interface{}, answer *Answer) error {
	kind, _, err := unstructured.NestedString(document, "kind")
	if err != nil {
		return err
	}
	apiVersion, _, err := unstructured.NestedString(document, "apiVersion")
	if err != nil {
		return err
	}
	meta, found, unknown, err := objectmeta.GetObjectMetaWithOptions(document, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return err
	}
	answer.Unknown = append(answer.Unknown, unknown...)
	answer.Unknown = append(answer.Unknown, pruning.PruneWithOptions(document, s.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	defaulting.PruneNonNullableNullsWithoutDefaults(document, s.structural)
	problem, unknown := objectmeta.CoerceWithOptions(nil, document, s.structural, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	if problem != nil {
		return problem
	}
	answer.Unknown = append(answer.Unknown, unknown...)
	document["kind"] = kind
	document["apiVersion"] = apiVersion
	if found {
		if err := objectmeta.SetObjectMeta(document, meta); err != nil {
			return err
		}
	}
	before := runtime.DeepCopyJSON(document)
	defaulting.Default(document, s.structural)
	answer.Defaulted = !reflect.DeepEqual(before, document)
	return nil
}

// validate is customResourceStrategy.Validate without what belongs to the request and not to the
// document: a name, a namespace and a type that fits the URL.
func validate(s *served, document map[string]interface{}, answer *Answer) {
	object := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(document)}
	if object.GetName() == "" {
		object.SetName("name")
	}
	if !s.namespaced {
		object.SetNamespace("")
	} else if object.GetNamespace() == "" {
		object.SetNamespace("default")
	}
	errors := metavalidation.ValidateObjectMetaAccessor(object, s.namespaced, metavalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	answer.Errors = append(answer.Errors, findings("metadata", errors)...)
	all := errors
	errors = validation.ValidateCustomResource(nil, object.UnstructuredContent(), s.validator)
	answer.Errors = append(answer.Errors, findings("schema", errors)...)
	all = append(all, errors...)
	errors = objectmeta.Validate(nil, object.Object, s.structural, false)
	answer.Errors = append(answer.Errors, findings("embedded", errors)...)
	all = append(all, errors...)
	errors = listtype.ValidateListSetsAndMaps(nil, s.structural, object.Object)
	answer.Errors = append(answer.Errors, findings("list", errors)...)
	all = append(all, errors...)
	// hasBlockingErr of the registry of custom resources.
	for _, err := range all {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			answer.RulesSkipped = true
		}
	}
	if s.rules != nil && !answer.RulesSkipped {
		errors, _ = s.rules.Validate(context.Background(), nil, s.structural, object.Object, nil, celconfig.RuntimeCELCostBudget)
		answer.Errors = append(answer.Errors, findings("rule", errors)...)
	}
}

// crds are read once.
type store struct {
	files  map[string][]*v1.CustomResourceDefinition
	served map[string]*served
}

func (s *store) read(path string) ([]*v1.CustomResourceDefinition, error) {
	if known, ok := s.files[path]; ok {
		return known, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var found []*v1.CustomResourceDefinition
	for _, part := range bytes.Split(append([]byte("\n"), text...), []byte("\n---")) {
		crd := &v1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(part, crd); err != nil {
			return nil, err
		}
		if crd.Kind == "CustomResourceDefinition" {
			found = append(found, crd)
		}
	}
	s.files[path] = found
	return found, nil
}

func (s *store) find(request *Request) (*served, error) {
	key := request.File + "\n" + request.Kind + "\n" + request.Version
	if known, ok := s.served[key]; ok {
		return known, nil
	}
	crds, err := s.read(request.File)
	if err != nil {
		return nil, err
	}
	for _, crd := range crds {
		if crd.Spec.Names.Kind == request.Kind {
			made, err := prepare(crd, request.Version)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", request.File, err)
			}
			s.served[key] = made
			return made, nil
		}
	}
	return nil, fmt.Errorf("%s: no kind %s", request.File, request.Kind)
}

func list(s *store, path string) ([]Listed, error) {
	crds, err := s.read(path)
	found := []Listed{}
	for _, crd := range crds {
		for _, version := range crd.Spec.Versions {
			if version.Schema != nil {
				found = append(found, Listed{crd.Spec.Group, crd.Spec.Names.Kind, version.Name, version.Schema.OpenAPIV3Schema})
			}
		}
	}
	return found, err
}

func answer(s *store, request *Request) (interface{}, error) {
	if request.Kind == "" {
		return list(s, request.File)
	}
	served, err := s.find(request)
	if err != nil {
		return nil, err
	}
	out := &Answer{Crd: served.problems, Unknown: []string{}, Errors: []Finding{}}
	if len(served.problems) != 0 {
		return out, nil
	}
	// As kubectl and the server turn YAML into JSON.
	text, err := yaml.YAMLToJSONStrict([]byte(request.Text))
	if err != nil {
		return nil, err
	}
	if err := utiljson.Unmarshal(text, &out.Document); err != nil {
		return nil, err
	}
	if err := decode(served, out.Document, out); err != nil {
		out.Refused = err.Error()
		return out, nil
	}
	validate(served, out.Document, out)
	return out, nil
}

func main() {
	install.Install(scheme)
	known := &store{map[string][]*v1.CustomResourceDefinition{}, map[string]*served{}}
	out := bufio.NewWriter(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for number := 1; lines.Scan(); number++ {
		request := &Request{}
		if err := json.Unmarshal(lines.Bytes(), request); err != nil {
			log.Fatalf("request %d: %v", number, err)
		}
		result, err := answer(known, request)
		if err != nil {
			log.Fatalf("request %d: %v", number, err)
		}
		if err := json.NewEncoder(out).Encode(result); err != nil {
			log.Fatal(err)
		}
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}
